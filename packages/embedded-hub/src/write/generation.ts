import type { JsonObject } from '../json/json-value.ts';
import { deepEqual, getOwn } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';

/**
 * Whether a change increases the generation. Any change does, except one of metadata, and of the status where that is a
 * subresource. The status of built-in kinds never counts.
 */
export function raisesGeneration(ref: ResourceRef, before: JsonObject, after: JsonObject): boolean {
  const ignored = new Set(['metadata', 'apiVersion', 'kind']);
  if (ref.version.subresources.status || ref.definition.builtIn) ignored.add('status');
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const key of keys) {
    if (!ignored.has(key) && !deepEqual(getOwn(before, key), getOwn(after, key))) return true;
  }
  return false;
}
