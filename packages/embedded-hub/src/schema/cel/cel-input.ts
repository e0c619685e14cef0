import { CelDouble } from '@berth/kube-cel/value/cel-value';
import { parseDuration, parseTimestamp } from '@berth/kube-cel/library/time';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { isObject } from '../../json/json-value.ts';
import type { Schema } from '../schema.ts';
import { chargeKeys, chargeWork } from '../../json/work-budget.ts';
import { celFieldName } from './cel-field-name.ts';

/**
 * Converts a value for CEL rules: strings of the formats date-time, date, duration and byte get
 * their CEL types, a `number` is a double even if it is whole, and declared fields get escaped
 * names. Returns the same value if nothing changes.
 */
export function celInput(schema: Schema, value: JsonValue): unknown {
  if (value === null || !differs(schema)) return value;
  if (typeof value === 'string') return fromText(schema.format, value);
  if (typeof value === 'number') return schema.type === 'number' ? new CelDouble(value) : value;
  if (Array.isArray(value)) {
    const { items } = schema;
    chargeWork(value.length);
    return items === undefined ? value : value.map((item) => celInput(items, item));
  }
  return isObject(value) ? fromObject(schema, value) : value;
}

function fromObject(schema: Schema, object: JsonObject): Record<string, unknown> {
  const result: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  const keys = Object.keys(object);
  chargeKeys(keys.length);
  for (const key of keys) {
    const declared = schema.properties?.get(key);
    const known = declared ?? (schema.additional === true ? undefined : schema.additional);
    const value = object[key] as JsonValue;
    result[declared === undefined ? key : celFieldName(key)] =
      known === undefined ? value : celInput(known, value);
  }
  return result;
}

/**
 * A string that does not fit its format stays a string; validation reports it, if the format is
 * checked.
 */
function fromText(format: string | undefined, text: string): unknown {
  switch (format) {
    case 'date-time':
      return parsedOr(text, parseTimestamp(text));
    case 'date':
      return parsedOr(text, parseTimestamp(`${text}T00:00:00Z`));
    case 'duration':
      return parsedOr(text, parseDuration(text));
    case 'byte':
      return new Uint8Array(Buffer.from(text, 'base64'));
    default:
      return text;
  }
}

function parsedOr(text: string, parsed: object): unknown {
  return 'nanos' in parsed ? parsed : text;
}

const known = new WeakMap<Schema, boolean>();

/** Whether any value of the schema needs conversion for CEL. */
function differs(schema: Schema): boolean {
  const before = known.get(schema);
  if (before !== undefined) return before;
  known.set(schema, false);
  const own =
    schema.type === 'number' ||
    (schema.type === 'string' && ['date-time', 'date', 'duration', 'byte'].includes(schema.format ?? ''));
  const names = [...(schema.properties?.keys() ?? [])].some((name) => celFieldName(name) !== name);
  const below = [
    ...(schema.properties?.values() ?? []),
    schema.items,
    schema.additional === true ? undefined : schema.additional,
  ];
  const found = own || names || below.some((one) => one !== undefined && differs(one));
  known.set(schema, found);
  return found;
}
