import { func, type FuncMap, variadic } from '../../value/go-func.ts';
import type { GoMap } from '../../value/go-map.ts';
import { type Any, BOOL, type GoType, INTERFACE, STRING, type Value } from '../../value/go-type.ts';
import { checkDepth } from '../../value/work.ts';

function typeOf(value: Any): string {
  return value?.type.name ?? '<nil>';
}

function kindOf(value: Any): string {
  return value?.type.kind ?? 'invalid';
}

/**
 * The functions of sprig for values that may not be set, and for types (defaults.go, reflect.go).
 */
export const DEFAULT_FUNCTIONS: FuncMap = new Map([
  [
    'default',
    variadic([INTERFACE], INTERFACE, [
      INTERFACE,
      (usual, [given = null]) => (isEmpty(given) ? usual : given),
    ]),
  ],
  ['empty', func([INTERFACE], BOOL, isEmpty)],
  [
    'coalesce',
    variadic([], INTERFACE, [INTERFACE, (values) => values.find((value) => !isEmpty(value)) ?? null]),
  ],
  ['all', variadic([], INTERFACE, [BOOL, (values) => !values.some(isEmpty)])],
  ['any', variadic([], INTERFACE, [BOOL, (values) => values.some((value) => !isEmpty(value))])],
  ['ternary', func([INTERFACE, INTERFACE, BOOL], INTERFACE, (yes, no, condition) => (condition ? yes : no))],
  ['typeOf', func([INTERFACE], STRING, typeOf)],
  ['typeIs', func([STRING, INTERFACE], BOOL, (name, value) => name === typeOf(value))],
  [
    'typeIsLike',
    func([STRING, INTERFACE], BOOL, (name, value) => [name, `*${name}`].includes(typeOf(value))),
  ],
  ['kindOf', func([INTERFACE], STRING, kindOf)],
  ['kindIs', func([STRING, INTERFACE], BOOL, (name, value) => name === kindOf(value))],
  ['deepEqual', func([INTERFACE, INTERFACE], BOOL, (left, right) => deepEqual(left, right))],
]);

/** Whether a value counts as not set in sprig: nil, zero, false, or without elements. */
export function isEmpty(value: Any): boolean {
  if (value === null) return true;
  switch (value.type.kind) {
    case 'bool':
      return value.data === false;
    case 'string':
      return value.data === '';
    case 'float64':
      return value.data === 0;
    case 'complex128': {
      const { re, im } = value.data as { readonly re: number; readonly im: number };
      return re === 0 && im === 0;
    }
    case 'slice':
      return ((value.data as readonly unknown[] | null)?.length ?? 0) === 0;
    case 'map':
      return ((value.data as { readonly size: number } | null)?.size ?? 0) === 0;
    case 'struct':
      return false;
    default:
      return value.data === null || value.data === 0n;
  }
}

/** reflect.DeepEqual: values of different types are never equal, and neither are nil and an empty list. */
export function deepEqual(left: Any, right: Any, depth = 0): boolean {
  checkDepth(depth);
  if (left === null || right === null) return left === right;
  if (left.type.name !== right.type.name) return false;
  if (left.data === right.data) return !Number.isNaN(left.data);
  if (left.data === null || right.data === null) return false;
  switch (left.type.kind) {
    case 'slice':
      return equalLists(left, right, depth);
    case 'map':
      return equalMaps(left as Value<GoMap>, right as Value<GoMap>, depth);
    case 'struct':
    case 'ptr':
      return sameText(left, right);
    case 'complex128':
      return JSON.stringify(left.data) === JSON.stringify(right.data);
    default:
      return false;
  }
}

/** The value in a list or a map as an `interface {}` would hold it. */
function inside(type: GoType | undefined, data: unknown): Any {
  return type === undefined || type.kind === 'interface' ? (data as Any) : { type, data };
}

function equalLists(left: Value, right: Value, depth: number): boolean {
  const [a, b] = [left.data as readonly unknown[], right.data as readonly unknown[]];
  const { elem } = left.type;
  return (
    a.length === b.length &&
    a.every((element, index) => deepEqual(inside(elem, element), inside(elem, b[index]), depth + 1))
  );
}

function equalMaps(left: Value<GoMap>, right: Value<GoMap>, depth: number): boolean {
  const { elem } = left.type;
  return (
    left.data.size === right.data.size &&
    left.data
      .entries()
      .every(
        ([key, data]) =>
          right.data.has(key) && deepEqual(inside(elem, data), inside(elem, right.data.get(key)), depth + 1),
      )
  );
}

/**
 * Compares times and versions. Their data determines all their fields, so equal data means equal
 * values.
 */
function sameText(left: Value, right: Value): boolean {
  const stable = (value: Value): string =>
    JSON.stringify(value.data, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part));
  return stable(left) === stable(right);
}
