import { parseQuantity } from '@berth/kube/model/quantity';
import { parseRfc3339 } from '@berth/kube/model/rfc3339';
import { isObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { Schema } from './schema.ts';
import { chargeKeys, chargeWork } from '../json/work-budget.ts';
import { quotedValue } from './text/quoted-value.ts';
import { matchesNumberFormat } from './text/value-format.ts';

const QUANTITY_TEXT =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const TIME_LAYOUT = '2006-01-02T15:04:05Z07:00';
const MICRO_TIME_LAYOUT = '2006-01-02T15:04:05.000000Z07:00';
const NOT_BASE64 = /[^A-Za-z0-9+/]/;

/** The struct that contains a field, and its own field. Rendered only if there is a problem. */
interface Struct {
  readonly schema: Schema;
  readonly above: Field;
}

/**
 * Position of a value: the innermost struct, and the key of its field. Lists and maps add nothing.
 */
interface Field {
  readonly struct: Struct | undefined;
  readonly key: string;
}

const NOWHERE: Field = { struct: undefined, key: '' };

/**
 * Why a value cannot be decoded into the Go type of a built-in schema, with the message of Go's
 * decoder: a wrong JSON type, a number out of range, an invalid quantity or time. Undefined if it
 * can.
 */
export function decodeProblem(schema: Schema, value: JsonValue): string | undefined {
  return problemAt(schema, value, NOWHERE);
}

function problemAt(schema: Schema, value: JsonValue, field: Field): string | undefined {
  if (value === null) return undefined;
  if (schema.intOrString === true) return intOrStringProblem(schema, value, field);
  switch (schema.type) {
    case '':
      return undefined;
    case 'object':
      return isObject(value) ? objectProblem(schema, value, field) : mismatch(schema, value, field);
    case 'array':
      return Array.isArray(value) ? listProblem(schema, value, field) : mismatch(schema, value, field);
    case 'string':
      return typeof value === 'string' ? textProblem(schema, value) : mismatch(schema, value, field);
    case 'integer':
      return Number.isInteger(value) && matchesNumberFormat(schema.format ?? '', value as number)
        ? undefined
        : mismatch(schema, value, field);
    case 'number':
    case 'boolean':
      return typeof value === schema.type ? undefined : mismatch(schema, value, field);
  }
}

function objectProblem(schema: Schema, object: JsonObject, field: Field): string | undefined {
  const { properties, additional } = schema;
  const struct = schema.name === undefined ? undefined : { schema, above: field };
  const keys = Object.keys(object);
  chargeKeys(keys.length);
  for (const key of keys) {
    const declared = properties?.get(key);
    const below = declared ?? (additional === true ? undefined : additional);
    if (below === undefined) continue;
    const value = object[key] as JsonValue;
    // Most fields are texts of no special form.
    if (typeof value === 'string' && below.type === 'string' && below.format === undefined) continue;
    const problem = problemAt(below, value, struct === undefined ? field : { struct, key });
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function listProblem(schema: Schema, list: readonly JsonValue[], field: Field): string | undefined {
  if (schema.items === undefined) return undefined;
  chargeWork(list.length);
  for (const item of list) {
    const problem = problemAt(schema.items, item, field);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function intOrStringProblem(schema: Schema, value: JsonValue, field: Field): string | undefined {
  if (schema.format === 'quantity') {
    const fits = typeof value === 'string' || typeof value === 'number';
    return fits && parseQuantity(value) !== undefined ? undefined : QUANTITY_TEXT;
  }
  if (typeof value === 'string') return undefined;
  return problemAt({ type: 'integer', format: 'int32' }, value, field);
}

function textProblem({ format, name = '' }: Schema, text: string): string | undefined {
  if (format === 'date-time' && parseRfc3339(text) === undefined) {
    const layout = name.endsWith('.MicroTime') ? MICRO_TIME_LAYOUT : TIME_LAYOUT;
    return `parsing time ${quotedValue(text)} as "${layout}": cannot parse ${quotedValue(text)} as "2006"`;
  }
  if (format === 'byte') return base64Problem(text);
  return undefined;
}

/** As Go's standard encoding: ignores line breaks, requires padding. */
function base64Problem(text: string): string | undefined {
  const letters = text.replace(/[\r\n]/g, '');
  const end = letters.search(NOT_BASE64);
  const body = end < 0 ? letters.length : end;
  const padding = letters.slice(body);
  if (body % 4 === 0 ? padding === '' : body % 4 > 1 && padding === '='.repeat(4 - (body % 4)))
    return undefined;
  return `illegal base64 data at input byte ${String(padding === '' || /^=+$/.test(padding) ? body - (body % 4) : body)}`;
}

function mismatch(schema: Schema, value: JsonValue, field: Field): string {
  const found = foundText(schema, value);
  const wanted = goType(schema);
  const struct = field.struct?.schema.name;
  if (struct === undefined) return `json: cannot unmarshal ${found} into Go value of type ${wanted}`;
  const place = `${shortName(struct)}.${pathOf(field)}`;
  return `json: cannot unmarshal ${found} into Go struct field ${place} of type ${wanted}`;
}

function pathOf({ struct, key }: Field): string {
  const above = struct === undefined ? '' : pathOf(struct.above);
  return above === '' ? key : `${above}.${key}`;
}

function foundText(schema: Schema, value: JsonValue): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return schema.type === 'integer' ? `number ${String(value)}` : 'number';
  return typeof value;
}

function goType(schema: Schema): string {
  switch (schema.type) {
    case 'object':
      if (schema.name !== undefined) return `${versionName(schema.name)}.${shortName(schema.name)}`;
      return typeof schema.additional === 'object' ? `map[string]${goType(schema.additional)}` : 'object';
    case 'array':
      return `[]${schema.items === undefined ? 'interface {}' : goType(schema.items)}`;
    case 'string':
      return schema.format === 'byte' ? '[]uint8' : 'string';
    case 'integer':
      return schema.format ?? 'int64';
    case 'boolean':
      return 'bool';
    case 'number':
      return 'float64';
    case '':
      return 'interface {}';
  }
}

/** `io.k8s.api.core.v1.Container` is `v1.Container` in Go. */
function shortName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

function versionName(name: string): string {
  return name.split('.').at(-2) ?? '';
}
