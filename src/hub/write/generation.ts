import type { JsonObject } from '../json/json-value.ts';
import { deepEqual, getOwn } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';

/**
 * Whether a change increases the generation: everything except metadata, and except status if that
 * is a subresource.
 */
export function specChanged(ref: ResourceRef, before: JsonObject, after: JsonObject): boolean {
  const uncounted = new Set(['metadata', 'apiVersion', 'kind']);
  if (ref.version.subresources.status || ref.definition.builtIn) uncounted.add('status');
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const key of keys) {
    if (!uncounted.has(key) && !deepEqual(getOwn(before, key), getOwn(after, key))) return true;
  }
  return false;
}
