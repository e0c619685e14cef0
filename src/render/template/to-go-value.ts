import { decode, encode } from './text/bytes.ts';
import { GoMap, MAP, STRING_MAP } from './value/go-map.ts';
import type { Any } from './value/go-type.ts';
import { BOOL, FLOAT64, INT64, LIST, STRING, valueOf } from './value/go-type.ts';
import { wrap64 } from './value/wrap-int.ts';
import type { TemplateValue } from './values.ts';
import { JsonText, StringMap } from './values.ts';
import { JSON_TEXT } from './value/json-text.ts';

/** The Go maps that were made of parameters, for templates that are rendered one after the other with the same ones. */
export type KeptMaps = WeakMap<object, Any>;

/**
 * A parameter as the Go value that Argo CD would have. Maps are read when a template asks for them.
 * @param kept what is in it is taken again, with the changes that functions such as `set` made
 */
export function toGoValue(value: TemplateValue, kept?: KeptMaps): Any {
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
      return isList(value)
        ? valueOf(
            LIST,
            value.map((item) => toGoValue(item, kept)),
          )
        : toMap(value, kept);
  }
}

function isList(value: object): value is readonly TemplateValue[] {
  return Array.isArray(value);
}

function toMap(value: StringMap | { readonly [key: string]: TemplateValue }, kept?: KeptMaps): Any {
  if (value instanceof StringMap) return valueOf(STRING_MAP, mapOf(value.entries, encode));
  const known = kept?.get(value);
  if (known !== undefined) return known;
  const map = valueOf(
    MAP,
    mapOf(value, (entry) => toGoValue(entry, kept)),
  );
  kept?.set(value, map);
  return map;
}

function mapOf<T, D>(entries: Readonly<Record<string, T>>, convert: (entry: T) => D): GoMap<D> {
  return new GoMap<D>({
    keys: () => Object.keys(entries).map(encode),
    has: (key) => Object.hasOwn(entries, decode(key)),
    // Only asked for keys that are there.
    get: (key) => convert(entries[decode(key)] as T),
  });
}
