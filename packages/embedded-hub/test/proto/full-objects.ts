import type { JsonObject, JsonValue } from '../../src/json/json-value.ts';
import { BUILTIN_RESOURCES } from '../../src/scheme/builtin/builtin-resources.ts';
import { builtinSchema } from '../../src/scheme/builtin/builtin-schemas.ts';
import type { Schema } from '../../src/schema/schema.ts';

/** Each field has a value that is not empty, or one that is. */
export type Filling = 'full' | 'zero';

/** Deeper places are left out: schemas of definitions contain themselves. */
const MAX_DEPTH = 14;
const SAME_TYPE_AT_MOST = 2;

/** JSON that is a type of its own in Go; by the end of the schema's name. */
const FREE: Readonly<Record<string, JsonValue>> = {
  JSONSchemaPropsOrBool: true,
  JSONSchemaPropsOrArray: { type: 'string' },
  JSONSchemaPropsOrStringArray: ['a'],
  JSON: 'text',
  RawExtension: { a: 'b' },
  FieldsV1: { 'f:a': {} },
};

/** An object of every built-in kind that is stored, with all its fields, valid or not. */
export function fullObjects(filling: Filling): readonly JsonObject[] {
  return BUILTIN_RESOURCES.filter(({ review }) => review !== true).map((row) => {
    const object = valueOf(builtinSchema(row.schema), filling, []) as JsonObject;
    const apiVersion = row.group === '' ? row.version : `${row.group}/${row.version}`;
    return { ...object, apiVersion, kind: row.kind };
  });
}

function valueOf(schema: Schema, filling: Filling, above: readonly Schema[]): JsonValue | undefined {
  const name = schema.name?.split('.').at(-1) ?? '';
  if (Object.hasOwn(FREE, name)) return FREE[name];
  if (schema.format === 'quantity') return filling === 'full' ? '1500m' : '0';
  if (schema.intOrString === true) return filling === 'full' ? '10%' : 0;
  if (schema.format === 'date-time')
    return name === 'MicroTime' ? '2026-01-01T00:00:00.000001Z' : '2026-01-01T00:00:00Z';
  const isFull = filling === 'full';
  switch (schema.type) {
    case 'string':
      return isFull ? (schema.format === 'byte' ? 'YQ==' : 'a') : '';
    case 'integer':
    case 'number':
      return isFull ? 1 : 0;
    case 'boolean':
      return isFull;
    case 'array':
      return listOf(schema, filling, above);
    case 'object':
      return objectOf(schema, filling, above);
    case '':
      return undefined;
  }
}

function listOf(schema: Schema, filling: Filling, above: readonly Schema[]): JsonValue {
  const item = schema.items === undefined ? undefined : valueOf(schema.items, filling, above);
  return item === undefined ? [] : [item];
}

function objectOf(schema: Schema, filling: Filling, above: readonly Schema[]): JsonValue | undefined {
  if (typeof schema.additional === 'object') {
    const value = valueOf(schema.additional, filling, above);
    return value === undefined ? {} : { key: value };
  }
  const times = above.filter((one) => one === schema).length;
  if (above.length > MAX_DEPTH || times >= SAME_TYPE_AT_MOST) return undefined;
  const object: JsonObject = {};
  for (const [key, field] of schema.properties ?? []) {
    const value = valueOf(field, filling, [...above, schema]);
    if (value !== undefined) object[key] = value;
  }
  return object;
}
