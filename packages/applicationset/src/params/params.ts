import { StringMap, type TemplateValue } from '@berth/go-template/values';
import { GenerateError, GoPanic } from '../failure/failures.ts';
import { RawJson } from '../json/go-json-text.ts';
import { type JsonValue, setKey } from '../json/json-value.ts';

/**
 * One parameter set, a Go `map[string]interface {}`. It is mutable and may share parts with other
 * sets. Argo CD merges parameters in place, so a change of a shared part is visible in all sets.
 */
export type Params = Record<string, ParamValue>;

export type ParamValue =
  | null
  | boolean
  | string
  | number
  | RawJson
  | StringMap
  | PluginMap
  | ParamValue[]
  | { [key: string]: ParamValue };

/** A Go `[]map[string]interface {}`. Flattening and selectors treat it as one value. */
export class ParamsList extends Array<Params> {}

/**
 * A Go map of another type than `map[string]interface {}`. The plugin generator puts it under
 * `generator.input`.
 */
export class PluginMap {
  [key: string]: ParamValue;
}

type GoMapKind = 'any' | 'string' | 'plugin';

/** The kind of Go map that the value is; undefined if it is not a map. */
function mapKindOf(value: ParamValue | undefined): GoMapKind | undefined {
  if (value instanceof StringMap) return 'string';
  if (value instanceof PluginMap) return 'plugin';
  return isParams(value) ? 'any' : undefined;
}

export function isParams(value: ParamValue | undefined): value is Params {
  return typeof value === 'object' && value !== null && value.constructor === Object;
}

/**
 * A copy of a JSON value as a parameter. Merging changes parameters in place, so it needs a copy.
 */
export function toParamValue(json: JsonValue): ParamValue {
  if (json === null || typeof json !== 'object') return json;
  if (Array.isArray(json)) return json.map(toParamValue);
  return toParams(json as { readonly [key: string]: JsonValue });
}

export function toParams(json: { readonly [key: string]: JsonValue }): Params {
  const params: Params = {};
  for (const key of Object.keys(json)) setKey(params, key, toParamValue(json[key] as JsonValue));
  return params;
}

export function asTemplateValue(params: Params): TemplateValue {
  return params;
}

/**
 * Flattens nested maps and lists to keys such as `a.b` and `l.0`. Empty maps and lists give no key.
 * Go types other than `map[string]interface {}` and `[]interface {}` count as one value. Source:
 * github.com/jeremywohl/flatten.
 * @param intoStringMaps whether to flatten a map of strings that is not in a list, as selectors do
 */
export function flattenParams(params: Params, intoStringMaps: boolean): Record<string, ParamValue> {
  const flat: Record<string, ParamValue> = {};
  const visit = (key: string, value: ParamValue, inMaps: boolean): void => {
    const opened = inMaps && value instanceof StringMap ? (value.entries as Params) : value;
    if (isParams(opened))
      for (const [name, item] of Object.entries(opened)) visit(`${key}.${name}`, item, inMaps);
    else if (Array.isArray(opened) && !(opened instanceof ParamsList))
      opened.forEach((item, index) => {
        visit(`${key}.${index}`, item, false);
      });
    else setKey(flat, key, opened);
  };
  for (const [key, value] of Object.entries(params)) visit(key, value, intoStringMaps);
  return flat;
}

/**
 * A value as `fmt.Sprintf("%v")` of Go prints it. Map keys are sorted.
 * @param integers whether whole numbers are integers, as in objects of the API server; otherwise
 * every number is a float
 */
export function goText(value: ParamValue | bigint, integers = false): string {
  if (value === null) return '<nil>';
  if (typeof value === 'number')
    return integers && Number.isSafeInteger(value) ? String(value) : goFloatText(value);
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return `[${value.map((item: ParamValue) => goText(item, integers)).join(' ')}]`;
  if (value instanceof RawJson) return `{[${[...Buffer.from(value.text)].join(' ')}]}`;
  const entries = value instanceof StringMap ? value.entries : (value as Record<string, ParamValue>);
  const keys = Object.keys(entries).sort();
  return `map[${keys.map((key) => `${key}:${goText(entries[key] ?? null, integers)}`).join(' ')}]`;
}

/** A float64 as `%v` prints it: the shortest digits, with an exponent below 1e-4 and from 1e+06 on. */
function goFloatText(value: number): string {
  const [, sign = '', digits = '', exponentText = '0'] =
    /^(-?)([\d.]+)e([+-]\d+)$/.exec(value.toExponential()) ?? [];
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return Object.is(value, -0) ? '-0' : String(value);
  return `${sign}${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

type Entries = Record<string, ParamValue>;

/**
 * Merges `from` into `into` as the matrix and merge generators of Argo CD do in Go mode: mergo with
 * WithOverride. Maps are merged in place. If `into` shares a map with other parameter sets, the map
 * changes there too. All other values are replaced. Source: dario.cat/mergo v1.0.2, merge.go.
 *
 * @throws GoPanic if a Go map of strings would get a value of another type
 */
export function mergeParams(into: Params, from: Params): void {
  mergeMaps(into, from);
}

function mergeMaps(into: ParamValue, from: ParamValue): void {
  const kind = mapKindOf(into) as GoMapKind;
  const target = entriesOf(into);
  const source = entriesOf(from);
  const fromStrings = mapKindOf(from) === 'string';
  for (const key of Object.keys(source)) {
    const value = source[key] as ParamValue;
    const current = Object.hasOwn(target, key) ? (target[key] as ParamValue) : undefined;
    if (mergeEntry(current, value)) continue;
    if (kind === 'string' && !fromStrings)
      throw new GoPanic(
        'reflect.Value.SetMapIndex: value of type interface {} is not assignable to type string',
      );
    setKey(target, key, value);
  }
}

/**
 * Merges two maps. Returns true if nothing more is to do and the entry stays. A map without entries
 * is replaced.
 */
function mergeEntry(current: ParamValue | undefined, value: ParamValue): boolean {
  if (mapKindOf(value) === undefined || mapKindOf(current) === undefined) return false;
  mergeMaps(current as ParamValue, value);
  return Object.keys(entriesOf(current as ParamValue)).length > 0;
}

function entriesOf(map: ParamValue): Entries {
  return map instanceof StringMap ? map.entries : (map as Entries);
}

/**
 * Combines two parameter sets as the matrix generator does with goTemplate off. Every value becomes
 * text.
 * @throws GenerateError if both sets have different values for a key
 */
export function combineStringMaps(first: Params, second: Params): Params {
  const combined: Record<string, string> = {};
  for (const key of Object.keys(first)) setKey(combined, key, goText(first[key] ?? null));
  for (const key of Object.keys(second)) {
    const value = goText(second[key] ?? null);
    const current = Object.hasOwn(combined, key) ? combined[key] : undefined;
    if (current !== undefined && current !== value)
      throw new GenerateError(`found duplicate key ${key} with different value, a: ${current} ,b: ${value}`);
    setKey(combined, key, value);
  }
  return combined;
}
