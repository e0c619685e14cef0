import { StringMap } from '@berth/go-template/values';
import { GoPanic, GenerateError } from '../failure/failures.ts';
import { setKey } from '../json/json-value.ts';
import { type GoMapKind, mapKindOf, type Params, type ParamValue, goText } from './params.ts';

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
