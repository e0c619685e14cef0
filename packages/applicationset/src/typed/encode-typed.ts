import { RawJson } from '../json/go-json-text.ts';
import { type JsonValue, setKey } from '../json/json-value.ts';
import {
  type GoField,
  type GoStruct,
  type GoType,
  isTypedObject,
  type TypedObject,
  type TypedValue,
} from '../types/go-type.ts';
import type { FixedParts } from './fixed-parts.ts';

type JsonObject = Record<string, JsonValue>;

/**
 * Writes a Go struct as encoding/json does. Fields are in the order of Go. Empty fields are omitted
 * if their type says so.
 * @param fixed the parts that several values share; these values also share the JSON of the parts
 */
export function encodeTyped(type: GoStruct, value: TypedObject | undefined, fixed?: FixedParts): JsonObject {
  const json: JsonObject = {};
  for (const field of type.fields) {
    const given = value?.[field.name];
    if (isLeftOut(field, given)) continue;
    setKey(json, field.name, encodeValue(field.type, given, fixed));
  }
  return json;
}

function isLeftOut({ omit, type }: GoField, value: TypedValue | undefined): boolean {
  if (omit === 'never') return false;
  if (type.kind === 'pointer' || type.kind === 'raw') return value === undefined;
  if (type.kind === 'struct') return omit === 'zero' && isZero(type, value);
  return isEmpty(value);
}

/** Whether omitempty of Go omits a value that is neither a pointer nor a struct. */
function isEmpty(value: TypedValue | undefined): boolean {
  if (value === undefined || value === '' || value === false || value === 0) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isTypedObject(value) && Object.keys(value).length === 0;
}

function isZero(type: GoType, value: TypedValue | undefined): boolean {
  if (type.kind !== 'struct') return type.kind === 'pointer' ? value === undefined : isEmpty(value);
  return !isTypedObject(value) || type.fields.every((field) => isZero(field.type, value[field.name]));
}

function encodeValue(type: GoType, value: TypedValue | undefined, fixed?: FixedParts): JsonValue {
  if (fixed === undefined || typeof value !== 'object') return encodePart(type, value, fixed);
  return fixed.encoded(value, () => encodePart(type, value, fixed));
}

function encodePart(type: GoType, value: TypedValue | undefined, fixed: FixedParts | undefined): JsonValue {
  switch (type.kind) {
    case 'struct':
      return encodeTyped(type, value as TypedObject | undefined, fixed);
    case 'pointer':
      return value === undefined ? null : encodeValue(type.to, value, fixed);
    case 'list':
      return Array.isArray(value) ? value.map((item: TypedValue) => encodeValue(type.of, item, fixed)) : null;
    case 'map':
      return isTypedObject(value) ? encodeMap(type.of, value, fixed) : null;
    case 'raw':
    case 'any':
      return value instanceof RawJson ? value.value : null;
    case 'bool':
      return value === true;
    case 'int64':
    case 'intOrString':
      return (value as number | string | undefined) ?? 0;
    case 'time':
      return (value as string | undefined) ?? null;
    default:
      return (value as string | undefined) ?? '';
  }
}

function encodeMap(type: GoType, value: TypedObject, fixed: FixedParts | undefined): JsonObject {
  const json: JsonObject = {};
  for (const [key, item] of Object.entries(value)) setKey(json, key, encodeValue(type, item, fixed));
  return json;
}

/**
 * Fills empty fields in the template of a generator from the template of the ApplicationSet, as
 * mergo does: maps by key, structs by field, lists completely. `false` and `0` count as empty even
 * if the user wrote them. Source: dario.cat/mergo v1.0.2, merge.go.
 */
export function fillEmpty(type: GoStruct, own: TypedObject, base: TypedObject): TypedObject {
  const filled: Record<string, TypedValue> = {};
  for (const { name, type: fieldType } of type.fields) {
    const value = fillValue(fieldType, own[name], base[name]);
    if (value !== undefined) filled[name] = value;
  }
  return filled;
}

function fillValue(
  type: GoType,
  own: TypedValue | undefined,
  base: TypedValue | undefined,
): TypedValue | undefined {
  if (base === undefined) return own;
  switch (type.kind) {
    case 'struct':
      return fillEmpty(type, (own ?? {}) as TypedObject, base as TypedObject);
    case 'pointer':
      return own === undefined ? base : fillValue(type.to, own, base);
    case 'map':
      return fillMap((own ?? {}) as TypedObject, base as TypedObject);
    case 'raw':
      return own instanceof RawJson ? own : base;
    default:
      return isEmpty(own) ? base : own;
  }
}

function fillMap(own: TypedObject, base: TypedObject): TypedObject {
  const filled: Record<string, TypedValue> = {};
  for (const [key, value] of Object.entries(own)) setKey(filled, key, value as TypedValue);
  for (const [key, value] of Object.entries(base))
    if (!Object.hasOwn(filled, key) || isEmpty(filled[key])) setKey(filled, key, value as TypedValue);
  return filled;
}
