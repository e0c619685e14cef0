import type { JsonObject } from '../json/json-value.ts';
import { getOwn, objectAt, withoutKey } from '../json/json-value.ts';
import { markTypedForm, typedForm } from '../schema/typed-form.ts';
import type { Incoming } from './incoming.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';

/** A stored object as a write sees it: an earlier version of the hub may have stored one with fewer zero values. */
export function liveObject({ definition, version }: ResourceRef, stored: JsonObject): JsonObject {
  return definition.builtIn ? typedForm(version.schema, stored) : stored;
}

/** An object without the empty lists and maps that it was sent with: storage does not keep them. */
export function toStoredForm({ version }: ResourceRef, { object, hollow }: Incoming): JsonObject {
  return hollow ? typedForm(version.schema, object) : object;
}

/** Notes ownership, which sees an object as it is stored, on one that may still hold empty lists and maps. */
export function withTrackedFields(
  ref: ResourceRef,
  incoming: Incoming,
  track: (object: JsonObject) => JsonObject,
): JsonObject {
  if (!incoming.hollow) return track(incoming.object);
  const owned = typedForm(ref.version.schema, incoming.object, { keep: 'written', found: false });
  const managed = getOwn(objectAt(track(owned), 'metadata') ?? {}, 'managedFields');
  const metadata = withoutKey(objectAt(incoming.object, 'metadata') ?? {}, 'managedFields');
  return {
    ...incoming.object,
    metadata: managed === undefined ? metadata : { ...metadata, managedFields: managed },
  };
}

/** Notes that an object which is about to be stored has the form of its kind. */
export function markWritten({ definition }: ResourceRef, object: JsonObject): void {
  if (definition.builtIn) markTypedForm(object);
}
