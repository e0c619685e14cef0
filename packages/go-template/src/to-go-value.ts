import { decode, encode } from './text/bytes.ts';
import { Refusal } from './value/go-error.ts';
import { GoMap, MAP, STRING_MAP } from './value/go-map.ts';
import {
  type Any,
  BOOL,
  FLOAT64,
  INT64,
  LIST,
  STRING,
  valueOf,
  type GoType,
  wrap64,
} from './value/go-type.ts';
import { JsonText, StringMap, type TemplateValue } from './values.ts';

/**
 * The type of Kubernetes for any JSON. It is a struct that holds the text as bytes, and fmt prints
 * it as such.
 */
const JSON_TEXT: GoType<string> = {
  kind: 'struct',
  name: 'v1.JSON',
  text: (bytes: string) => `{[${[...bytes].map((byte) => byte.charCodeAt(0)).join(' ')}]}`,
  rawJson: (bytes: string) => bytes,
};

/**
 * The Go map of each map in the parameters. Templates that are rendered one after the other with
 * the same parameters share these maps.
 */
export type KeptMaps = WeakMap<object, Any>;

/**
 * What happens to the changes that functions such as `set` make in the parameters. `KeptMaps` keeps
 * them for later texts. `dropped` drops them after the text. `refused` refuses the text.
 */
export type Changes = KeptMaps | 'dropped' | 'refused';

/**
 * The Go value that Argo CD would have for a parameter. Maps are read when a template reads them.
 */
export function toGoValue(value: TemplateValue, changes: Changes): Any {
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
            value.map((item) => toGoValue(item, changes)),
          )
        : toMap(value, changes);
  }
}

function isList(value: object): value is readonly TemplateValue[] {
  return Array.isArray(value);
}

function toMap(value: StringMap | { readonly [key: string]: TemplateValue }, changes: Changes): Any {
  if (value instanceof StringMap) return valueOf(STRING_MAP, mapOf(value.entries, encode));
  const kept = typeof changes === 'string' ? undefined : changes;
  const known = kept?.get(value);
  if (known !== undefined) return known;
  const map = valueOf(
    MAP,
    mapOf(value, (entry) => toGoValue(entry, changes), changes === 'refused' ? refuseChange : undefined),
  );
  kept?.set(value, map);
  return map;
}

function refuseChange(): never {
  throw new Refusal('Berth does not render a text of a generator that changes the parameters');
}

function mapOf<T, D>(
  entries: Readonly<Record<string, T>>,
  convert: (entry: T) => D,
  beforeChange?: () => void,
): GoMap<D> {
  return new GoMap<D>({
    ...(beforeChange && { beforeChange }),
    keys: () => Object.keys(entries).map(encode),
    has: (key) => Object.hasOwn(entries, decode(key)),
    // Called only for existing keys.
    get: (key) => convert(entries[decode(key)] as T),
  });
}
