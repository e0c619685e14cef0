import type { JsonObject } from '../json/json-value.ts';
import type { ResourceRef, ResourceVersion } from '../schema/resource-definition.ts';

/*
 * What webhooks made of objects. Reading, selecting and showing objects is synchronous, and a webhook is not. So the pipeline
 * looks for an object in another version here; what is not here is asked for by throwing, the request waits for the webhook outside of its
 * synchronous part, and runs that part again. The part that succeeds still reads the live object and stores the new one in one turn.
 * Passing promises through the write pipeline was rejected: every step would then be a place where another write can come between.
 */

/** Objects by identity: stored ones never change. A definition that is changed has other versions, and asks again. */
const known = new WeakMap<JsonObject, Map<ResourceVersion, JsonObject>>();

/** A synchronous part of a request needs an object in another version. Caught where the request can wait for the webhook. */
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

export function convertedObject(object: JsonObject, version: ResourceVersion): JsonObject | undefined {
  return known.get(object)?.get(version);
}

export function noteConverted(object: JsonObject, version: ResourceVersion, converted: JsonObject): void {
  const versions = known.get(object);
  if (versions === undefined) known.set(object, new Map([[version, converted]]));
  else versions.set(version, converted);
}
