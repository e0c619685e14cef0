import { type JsonObject, type JsonValue, getOwn, setOwn } from '../json/json-value.ts';
import type { Schema } from '../schema/schema.ts';

const partialSchemas = new WeakMap<Schema, Schema | 'whole'>();

/** The top-level fields that a write changed, and a schema of these fields alone. */
export interface ChangedPart {
  readonly schema: Schema;
  readonly part: JsonObject;
  /** The complete object with the processed part. */
  readonly whole: (processed: JsonObject) => JsonObject;
}

/**
 * The schema for some of the fields, without `required`. Rules about the complete object are not
 * checked on a part.
 */
function partialSchema(schema: Schema): Schema | 'whole' {
  const cached = partialSchemas.get(schema);
  if (cached !== undefined) return cached;
  const withRequiredFields = [...(schema.properties?.values() ?? [])].some(
    (one) => one.default !== undefined,
  );
  const { required: _required, ...rest } = schema;
  const result = withRequiredFields || schema.limits !== undefined ? 'whole' : rest;
  partialSchemas.set(schema, result);
  return result;
}

/**
 * The part of an object that must be validated. A patch leaves most fields identical (by reference)
 * to those of the live object, which are valid already. Most writes of a hub are status writes, and
 * this way large specs do not slow them down.
 */
export function changedPart(schema: Schema, object: JsonObject, live: JsonObject | undefined): ChangedPart {
  const partSchema = live === undefined ? 'whole' : partialSchema(schema);
  if (live === undefined || partSchema === 'whole')
    return { schema, part: object, whole: (processed) => processed };
  const part: JsonObject = {};
  for (const key of Object.keys(object)) {
    const value = object[key] as JsonValue;
    if (value !== getOwn(live, key)) setOwn(part, key, value);
  }
  return {
    schema: partSchema,
    part,
    whole: (processed) => (processed === part ? object : mergePart(object, part, processed)),
  };
}

function mergePart(object: JsonObject, part: JsonObject, processed: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(object)) {
    if (!Object.hasOwn(part, key)) setOwn(result, key, object[key] as JsonValue);
    else if (Object.hasOwn(processed, key)) setOwn(result, key, processed[key] as JsonValue);
  }
  return result;
}
