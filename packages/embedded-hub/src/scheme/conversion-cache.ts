import type { JsonObject } from '../json/json-value.ts';
import type { ResourceRef, ResourceVersion } from '../schema/resource-definition.ts';

/**
 * A cache of objects that conversion webhooks converted. The pipeline that reads, selects and
 * writes objects is synchronous; a webhook is not. The pipeline looks up converted objects here. If
 * one is missing it throws ConversionNeeded; the request then calls the webhook and runs its
 * synchronous part again. The run that succeeds reads the live object and stores the new one
 * without interruption. Rejected: promises in the write pipeline, since another write could then
 * run between any two steps.
 */

/**
 * By object identity, since stored objects never change. A changed definition has new version
 * objects, so its webhook is called again.
 */
const known = new WeakMap<JsonObject, Map<ResourceVersion, JsonObject>>();

/**
 * Thrown when the synchronous part of a request needs an object in another version. The caller that
 * can wait for the webhook catches it.
 */
export class ConversionNeeded extends Error {
  readonly object: JsonObject;
  readonly ref: ResourceRef;

  /** @param object in the shape of its own version */
  constructor(object: JsonObject, ref: ResourceRef) {
    super('a conversion is needed');
    this.object = object;
    this.ref = ref;
  }
}

export function cachedConversion(object: JsonObject, version: ResourceVersion): JsonObject | undefined {
  return known.get(object)?.get(version);
}

export function cacheConversion(object: JsonObject, version: ResourceVersion, converted: JsonObject): void {
  const versions = known.get(object);
  if (versions === undefined) known.set(object, new Map([[version, converted]]));
  else versions.set(version, converted);
}
