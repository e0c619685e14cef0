import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { isObject } from '../json/json-value.ts';
import { builtinSchema } from '../scheme/builtin/builtin-schemas.ts';
import { typedForm } from '../schema/typed-form.ts';
import { ProtoError } from './proto-reader.ts';

/**
 * Messages whose JSON is not an object of their fields. Each entry converts the decoded fields to
 * JSON.
 */
export const SPECIAL_MESSAGES: Readonly<Record<string, (fields: JsonObject) => JsonValue>> = {
  'machinery:apis.meta.v1.Time': (fields) => timeText(fields, false),
  'machinery:apis.meta.v1.MicroTime': (fields) => timeText(fields, true),
  'machinery:apis.meta.v1.Duration': (fields) => `${String(numberIn(fields, 'duration') / 1e9)}s`,
  'machinery:api.resource.Quantity': (fields) => fields['string'] ?? '0',
  'machinery:util.intstr.IntOrString': (fields) =>
    numberIn(fields, 'type') === 1 ? (fields['strVal'] ?? '') : numberIn(fields, 'intVal'),
  'machinery:runtime.RawExtension': (fields) => rawJson(fields['raw']),
  'machinery:apis.meta.v1.FieldsV1': (fields) => rawJson(fields['Raw']),
  'extensions:apiextensions.v1.JSON': (fields) => rawJson(fields['raw']),
  'extensions:apiextensions.v1.JSONSchemaPropsOrBool': (fields) =>
    schemaIn(fields) ?? fields['allows'] === true,
  'extensions:apiextensions.v1.JSONSchemaPropsOrArray': (fields) =>
    schemaIn(fields) ?? fields['jSONSchemas'] ?? [],
  'extensions:apiextensions.v1.JSONSchemaPropsOrStringArray': (fields) =>
    schemaIn(fields) ?? fields['property'] ?? [],
};

/** Messages that are written as the list in their only field: map values cannot be lists in protobuf. */
export const LIST_MESSAGES: ReadonlySet<string> = new Set([
  'authentication.v1.ExtraValue',
  'authorization.v1.ExtraValue',
  'certificates.v1.ExtraValue',
]);

/**
 * The schema in a union with other types. Its value is not processed later, so it is converted
 * here.
 */
function schemaIn(fields: JsonObject): JsonObject | undefined {
  const schema = fields['schema'];
  return isObject(schema)
    ? typedForm(builtinSchema('extensions:apiextensions.v1.JSONSchemaProps'), schema)
    : undefined;
}

function numberIn(fields: JsonObject, key: string): number {
  const value = fields[key];
  return typeof value === 'number' ? value : 0;
}

/** The zero time is absent in JSON. */
function timeText(fields: JsonObject, micro: boolean): JsonValue {
  if (Object.keys(fields).length === 0) return null;
  const seconds = numberIn(fields, 'seconds');
  if (Math.abs(seconds) > 8.64e12) throw new ProtoError('time out of range');
  const text = new Date(seconds * 1000).toISOString().slice(0, 19);
  if (!micro) return `${text}Z`;
  const micros = Math.floor(numberIn(fields, 'nanos') / 1000);
  return `${text}.${String(micros).padStart(6, '0')}Z`;
}

/** Bytes that hold JSON; they were decoded to base64 like any other bytes. */
function rawJson(value: JsonValue | undefined): JsonValue {
  if (typeof value !== 'string' || value === '') return null;
  const text = Buffer.from(value, 'base64').toString('utf8');
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new ProtoError('embedded JSON does not parse');
  }
}
