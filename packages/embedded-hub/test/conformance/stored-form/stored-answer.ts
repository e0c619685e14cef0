import type { LooseJson } from '../../loose-json.ts';
import type { JsonObject, JsonValue } from '../../../src/json/json-value.ts';
import { isObject } from '../../../src/json/json-value.ts';
import { UID } from '../validation/verdict.ts';

/** Identities, times of the server, and what only a server with a network gives out. */
const DROPPED = new Set(['uid', 'resourceVersion', 'time', 'manager', 'nodePort', 'healthCheckNodePort']);
/** The objects name times of one day; all others are the server's. */
const SERVER_TIME = /^(?!2026-01-01T)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;
const ALLOCATED = /^10\.0\.0\.\d+$/;

/** The object that a server answered with, in its comparable parts; undefined when it refused. */
export function storedAnswer(status: number, body: LooseJson): JsonObject | undefined {
  return status >= 200 && status < 300 ? (comparable(body as JsonObject) as JsonObject) : undefined;
}

function comparable(value: JsonValue): JsonValue {
  if (typeof value === 'string') return SERVER_TIME.test(value) ? 'T' : value.replace(UID, '{uid}');
  if (Array.isArray(value)) return value.map(comparable);
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const [key, below] of Object.entries(value)) {
    if (DROPPED.has(key) || isAllocated(key, below)) continue;
    result[key] = comparable(below);
  }
  return result;
}

function isAllocated(key: string, value: JsonValue): boolean {
  if (key === 'clusterIP') return typeof value === 'string' && ALLOCATED.test(value);
  const first = key === 'clusterIPs' && Array.isArray(value) ? value[0] : undefined;
  return typeof first === 'string' && ALLOCATED.test(first);
}
