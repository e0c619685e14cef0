import { compareBytes } from '../../text/bytes.ts';
import { GoError } from '../../value/go-error.ts';
import { func, type FuncMap, variadic } from '../../value/go-func.ts';
import { GoMap, isMap, MAP } from '../../value/go-map.ts';
import {
  type Any,
  BOOL,
  INTERFACE,
  isString,
  LIST,
  STRING,
  STRINGS,
  valueOf,
  type Value,
} from '../../value/go-type.ts';
import { checkDepth, spend } from '../../value/work.ts';
import { strval } from '../text/text-functions.ts';
import { isEmpty } from './default-functions.ts';

type Dict = GoMap<Any> | null;

function dict(values: readonly Any[]): GoMap<Any> {
  const map = new GoMap<Any>();
  for (let at = 0; at < values.length; at += 2) {
    const value = values[at + 1];
    map.set(strval(values[at] ?? null), value === undefined ? valueOf(STRING, '') : value);
  }
  return map;
}

function set(map: Dict, key: string, value: Any): Dict {
  if (map === null) throw new GoError('assignment to entry in nil map');
  map.set(key, value);
  return map;
}

function unset(map: Dict, key: string): Dict {
  map?.delete(key);
  return map;
}

function get(map: Dict, key: string): Any {
  return map?.has(key) === true ? (map.get(key) ?? null) : valueOf(STRING, '');
}

/** The entries of a map whose keys are kept. */
function filtered(map: Dict, isKept: (key: string) => boolean): GoMap<Any> {
  return GoMap.of((map?.entries() ?? []).filter(([key]) => isKept(key)));
}

function merge(overwrite: boolean) {
  return (first: Dict, others: readonly Dict[]): Any => {
    const target = first ?? new GoMap<Any>();
    for (const other of others) if (other !== null) mergeInto(target, other, overwrite);
    return valueOf(MAP, first === null && others.every((other) => other === null) ? null : target);
  };
}

/** The type of a value in the text of a panic. */
function typeText(value: Any): string {
  return value === null ? 'nil' : value.type.name;
}

function asMap(value: Any): GoMap<Any> | null {
  if (isMap(value)) return value.data;
  throw new GoError(`interface conversion: interface {} is ${typeText(value)}, not map[string]interface {}`);
}

function asKey(value: Any): string {
  if (isString(value)) return value.data;
  throw new GoError(`interface conversion: interface {} is ${typeText(value)}, not string`);
}

/** The value at the end of a path of keys, or the default before the map. */
function dig(given: readonly Any[]): Any {
  if (given.length < 3) throw new GoError('dig needs at least three arguments');
  let map = asMap(given.at(-1) ?? null);
  const path = given.slice(0, -2).map(asKey);
  for (const [index, key] of path.entries()) {
    if (map?.has(key) !== true) return given.at(-2) ?? null;
    const value = map.get(key) ?? null;
    if (index === path.length - 1) return value;
    map = asMap(value);
  }
  return null;
}

function deepCopy(value: Any, depth = 0): Any {
  checkDepth(depth);
  spend(5);
  if (value === null || value.data === null) return value;
  const { type } = value;
  const copy = (data: unknown): unknown =>
    type.elem?.kind === 'interface' ? deepCopy(data as Any, depth + 1) : copied(type.elem, data, depth);
  if (type.kind === 'slice') return { type, data: (value.data as readonly unknown[]).map(copy) };
  if (type.kind !== 'map') return value;
  return {
    type,
    data: GoMap.of((value.data as GoMap).entries().map(([key, data]) => [key, copy(data)] as const)),
  };
}

function copied(type: NonNullable<Any>['type'] | undefined, data: unknown, depth: number): unknown {
  return type === undefined ? data : deepCopy({ type, data }, depth + 1)?.data;
}

const mergeKeeping = variadic([MAP], MAP, [INTERFACE, merge(false)]);
const mergeOver = variadic([MAP], MAP, [INTERFACE, merge(true)]);
const copy = func([INTERFACE], INTERFACE, (value) => {
  if (value === null) throw new GoError('reflect: call of reflect.Value.Type on zero Value');
  return deepCopy(value);
});

/**
 * The functions of sprig for maps (dict.go). In Go the order of `keys` and `values` is random. Here
 * they are sorted by key.
 */
export const DICT_FUNCTIONS: FuncMap = new Map([
  ['dict', variadic([], INTERFACE, [MAP, dict])],
  ['get', func([MAP, STRING], INTERFACE, get)],
  ['set', func([MAP, STRING, INTERFACE], MAP, set)],
  ['unset', func([MAP, STRING], MAP, unset)],
  ['hasKey', func([MAP, STRING], BOOL, (map, key) => map?.has(key) === true)],
  [
    'pluck',
    variadic([STRING], MAP, [
      LIST,
      (key, maps) => maps.filter((map) => map?.has(key) === true).map((map) => map?.get(key) ?? null),
    ]),
  ],
  [
    'keys',
    variadic([], MAP, [
      STRINGS,
      (maps) => maps.flatMap((map) => [...(map?.keys() ?? [])].sort(compareBytes)),
    ]),
  ],
  ['values', func([MAP], LIST, (map) => (map?.entries() ?? []).map(([, value]) => value))],
  ['pick', variadic([MAP], STRING, [MAP, (map, keys) => filtered(map, (key) => keys.includes(key))])],
  ['omit', variadic([MAP], STRING, [MAP, (map, keys) => filtered(map, (key) => !keys.includes(key))])],
  ['merge', mergeKeeping],
  ['mustMerge', mergeKeeping],
  ['mergeOverwrite', mergeOver],
  ['mustMergeOverwrite', mergeOver],
  ['dig', variadic([], INTERFACE, [INTERFACE, dig])],
  ['deepCopy', copy],
  ['mustDeepCopy', copy],
]);

/** Fills a map from another, as dario.cat/mergo does; with `overwrite` the other map wins. */
function mergeInto(target: GoMap<Any>, source: GoMap<Any>, overwrite: boolean, depth = 0): void {
  checkDepth(depth);
  for (const [key, value] of source.entries()) {
    spend(1);
    const known = target.get(key);
    if (value === null) {
      if (overwrite) target.set(key, null);
      continue;
    }
    mergeInside(known ?? null, value, { overwrite, depth });
    if (known !== undefined && !isEmpty(known) && keepsPlace(known, value)) {
      if (overwrite && value.type.kind === 'slice') target.set(key, value);
      continue;
    }
    if (overwrite || known === undefined || isEmpty(known)) target.set(key, value);
  }
}

/** A list is replaced, and a map in a map was merged already. */
function keepsPlace(known: Any, value: Value): boolean {
  return value.type.kind === 'slice' || (value.type.kind === 'map' && known?.type.kind === 'map');
}

function mergeInside(
  known: Any,
  value: Value,
  { overwrite, depth }: { readonly overwrite: boolean; readonly depth: number },
): void {
  if (known?.type.kind !== 'map' || value.type.kind !== 'map') return;
  const [target, source] = [known.data as GoMap<Any> | null, value.data as GoMap<Any> | null];
  if (target === null || source === null) return;
  if (isMap(known) !== isMap(value)) return mergeUnlike(known, value, overwrite);
  if (isMap(known)) return mergeInto(target, source, overwrite, depth + 1);
  mergeTexts(known.data as GoMap<string>, value.data as GoMap<string>, overwrite);
}

/** Merges two `map[string]string`. */
function mergeTexts(target: GoMap<string>, source: GoMap<string>, overwrite: boolean): void {
  for (const [key, text] of source.entries())
    if (overwrite || (target.get(key) ?? '') === '') target.set(key, text);
}

/**
 * Merges a `map[string]string` and a `map[string]interface {}`. Only the second can hold values of
 * the first.
 */
function mergeUnlike(known: Value, value: Value, overwrite: boolean): void {
  const target = known.data as GoMap<Any>;
  const elem = value.type.elem;
  for (const [key, data] of (value.data as GoMap).entries()) {
    const own = target.get(key);
    if (!overwrite && own !== undefined && (isMap(known) ? !isEmpty(own) : own !== ('' as never))) continue;
    if (!isMap(known))
      throw new GoError(
        'reflect.Value.SetMapIndex: value of type interface {} is not assignable to type string',
      );
    if (elem !== undefined) target.set(key, { type: elem, data });
  }
}
