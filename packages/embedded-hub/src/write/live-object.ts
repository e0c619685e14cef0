import type { JsonObject } from '../json/json-value.ts';
import { getOwn, objectAt, withoutKey } from '../json/json-value.ts';
import { markTypedForm, typedForm } from '../schema/typed-form.ts';
import type { Incoming } from './incoming.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';

/**
 * A stored object for a write, with all zero values: an earlier version of the hub may have stored
 * it with fewer.
 */
export function liveObject({ definition, version }: ResourceRef, stored: JsonObject): JsonObject {
  return definition.builtIn ? typedForm(version.schema, stored) : stored;
}

/** The object without the empty lists and maps that were sent, which are not stored. */
export function toStoredForm({ version }: ResourceRef, { object, hasEmptyContainers }: Incoming): JsonObject {
  return hasEmptyContainers ? typedForm(version.schema, object) : object;
}

/**
 * Updates field ownership, which is computed on the stored form, of an object that may still have
 * empty lists and maps.
 */
export function withTrackedFields(
  ref: ResourceRef,
  incoming: Incoming,
  track: (object: JsonObject) => JsonObject,
): JsonObject {
  if (!incoming.hasEmptyContainers) return track(incoming.object);
  const owned = typedForm(ref.version.schema, incoming.object, { keep: 'written', found: false });
  const managed = getOwn(objectAt(track(owned), 'metadata') ?? {}, 'managedFields');
  const metadata = withoutKey(objectAt(incoming.object, 'metadata') ?? {}, 'managedFields');
  return {
    ...incoming.object,
    metadata: managed === undefined ? metadata : { ...metadata, managedFields: managed },
  };
}

/** Marks an object that is about to be stored as having the form of its kind. */
export function markWritten({ definition }: ResourceRef, object: JsonObject): void {
  if (definition.builtIn) markTypedForm(object);
}
