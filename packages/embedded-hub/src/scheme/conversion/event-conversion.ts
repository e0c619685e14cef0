import type { JsonObject } from '../../json/json-value.ts';
import { getOwn } from '../../json/json-value.ts';

/** Fields of an Event that have different names in core/v1 and events.k8s.io/v1: [core, events]. */
const RENAMED: readonly (readonly [string, string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];

/** events.k8s.io/v1 Event -> core/v1 Event. */
export function eventToCore(event: JsonObject): JsonObject {
  return rename(event, 'v1', new Map(RENAMED.map(([core, events]) => [events, core])));
}

/** core/v1 Event -> events.k8s.io/v1 Event. */
export function eventFromCore(event: JsonObject): JsonObject {
  return rename(event, 'events.k8s.io/v1', new Map(RENAMED));
}

function rename(event: JsonObject, apiVersion: string, names: ReadonlyMap<string, string>): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(event)) {
    const value = getOwn(event, key);
    if (value !== undefined) result[names.get(key) ?? key] = value;
  }
  result['apiVersion'] = apiVersion;
  return result;
}
