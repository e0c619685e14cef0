import { groupVersionOf } from '@berth/kube/model/object-ref';
import { applyDefaults } from '../schema/default-values.ts';
import { prune } from '../schema/prune.ts';
import type { JsonObject } from '../json/json-value.ts';
import { textAt } from '../json/json-value.ts';
import type { ResourceDefinition, ResourceVersion } from '../schema/resource-definition.ts';
import type { Schema } from '../schema/schema.ts';

/**
 * A custom resource is stored in the shape that its definition had when it was written. A read
 * returns it in the shape of the current definition: without removed fields, with defaults that
 * were added since. The stored object stays unchanged, so a definition that is changed by mistake
 * and changed back loses no data. Each object is processed once per version of its definition.
 */
const known = new WeakMap<JsonObject, { readonly schema: Schema; readonly shaped: JsonObject } | Schema>();

/**
 * A stored custom resource in the shape of its current definition; the same object if nothing
 * differs.
 */
export function currentShape(object: JsonObject, definition: ResourceDefinition): JsonObject {
  const schema = versionOf(object, definition)?.schema;
  if (schema === undefined) return object;
  const before = known.get(object);
  if (before === schema) return object;
  if (before !== undefined && 'shaped' in before && before.schema === schema) return before.shaped;
  const shaped = pruneAndDefault(schema, object);
  known.set(object, shaped === object ? schema : { schema, shaped });
  return shaped;
}

/** Marks an object as written under this schema, so that reads need not process it. */
export function markCurrent(object: JsonObject, version: ResourceVersion): void {
  known.set(object, version.schema);
}

/** The object without unknown fields, and with defaults. */
export function pruneAndDefault(schema: Schema, object: JsonObject): JsonObject {
  return applyDefaults(schema, prunedTo(schema, object)) as JsonObject;
}

/** The object without unknown fields. */
export function prunedTo(schema: Schema, object: JsonObject): JsonObject {
  return prune(schema, object, []) as JsonObject;
}

/** The version that an object was stored in; the storage version if that one was removed. */
function versionOf(object: JsonObject, { versions }: ResourceDefinition): ResourceVersion | undefined {
  const { version: name } = groupVersionOf(textAt(object, 'apiVersion'));
  return versions.find((version) => version.name === name) ?? versions.find(({ storage }) => storage);
}
