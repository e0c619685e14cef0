import type { FuncMap } from '../../value/go-func.ts';
import { func, variadic } from '../../value/go-func.ts';
import { type Any, BOOL, INTERFACE, STRING } from '../../value/go-type.ts';
import { deepEqual } from './deep-equal.ts';

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
