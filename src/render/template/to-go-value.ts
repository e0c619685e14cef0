import { decode, encode } from './text/bytes.ts';
import { GoMap, MAP, STRING_MAP } from './value/go-map.ts';
import type { Any } from './value/go-type.ts';
import { BOOL, FLOAT64, INT64, LIST, STRING, valueOf } from './value/go-type.ts';
import { wrap64 } from './value/wrap-int.ts';
import type { TemplateValue } from './values.ts';
import { JsonText, StringMap } from './values.ts';
import { JSON_TEXT } from './value/json-text.ts';

/** A parameter as the Go value that Argo CD would have. Maps are read when a template asks for them. */
export function toGoValue(value: TemplateValue): Any {
  if (value === null) return null;
  switch (typeof value) {
    case 'boolean':
      return valueOf(BOOL, value);
    case 'string':
      return valueOf(STRING, encode(value));
    case 'number':
      return valueOf(FLOAT64, value);
    case 'bigint':
      return valueOf(INT64, wrap64(value));
    default:
      if (value instanceof JsonText) return valueOf(JSON_TEXT, encode(value.text));
      return isList(value) ? valueOf(LIST, value.map(toGoValue)) : toMap(value);
  }
}

function isList(value: object): value is readonly TemplateValue[] {
  return Array.isArray(value);
}

function toMap(value: StringMap | { readonly [key: string]: TemplateValue }): Any {
  if (value instanceof StringMap) return valueOf(STRING_MAP, mapOf(value.entries, encode));
  return valueOf(MAP, mapOf(value, toGoValue));
}

function mapOf<T, D>(entries: Readonly<Record<string, T>>, convert: (entry: T) => D): GoMap<D> {
  return new GoMap<D>({
    keys: () => Object.keys(entries).map(encode),
    has: (key) => Object.hasOwn(entries, decode(key)),
    // Only asked for keys that are there.
    get: (key) => convert(entries[decode(key)] as T),
  });
}
