import { applyDefaults } from '../schema/default-values.ts';
import { prune } from '../schema/prune.ts';
import type { JsonObject } from '../json/json-value.ts';
import { textAt } from '../json/json-value.ts';
import type { ResourceDefinition, ResourceVersion } from '../schema/resource-definition.ts';
import type { Schema } from '../schema/schema.ts';

/**
 * Stored custom resources keep the shape that their definition had when they were written. Who reads one sees it as the definition
 * is today: without fields that were taken out, with defaults that were added since. What is stored does not change by that, so a
 * definition that was changed by mistake and is changed back loses nothing. Each object is looked at once for each definition.
 */
const known = new WeakMap<JsonObject, { readonly schema: Schema; readonly shaped: JsonObject } | Schema>();

/** A stored custom resource as its definition has it now; the object itself when nothing is different. */
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

/** Notes that an object was just written under this schema: reading it costs nothing. */
export function markCurrent(object: JsonObject, version: ResourceVersion): void {
  known.set(object, version.schema);
}

/** What the schema knows, and its defaults. */
export function pruneAndDefault(schema: Schema, object: JsonObject): JsonObject {
  return applyDefaults(schema, prunedTo(schema, object)) as JsonObject;
}

/** What the schema knows. */
export function prunedTo(schema: Schema, object: JsonObject): JsonObject {
  return prune(schema, object, []) as JsonObject;
}

/** The version that an object was stored in; the storage version when that one is gone. */
function versionOf(object: JsonObject, { versions }: ResourceDefinition): ResourceVersion | undefined {
  const apiVersion = textAt(object, 'apiVersion');
  const name = apiVersion.slice(apiVersion.indexOf('/') + 1);
  return versions.find((version) => version.name === name) ?? versions.find(({ storage }) => storage);
}
