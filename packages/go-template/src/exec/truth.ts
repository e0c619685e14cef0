import type { GoMap } from '../value/go-map.ts';
import { type Complex, type Value, isInteger, isUnsigned, type Any } from '../value/go-type.ts';

/**
 * The truth of a value for `if`, `and`, `or` and `not`. False for no value, for zero, and for an
 * empty value.
 */
export function isTrue(given: Value | undefined): boolean {
  const value = unwrap(given);
  if (value === undefined) return false;
  if (isInteger(value) || isUnsigned(value)) return value.data !== 0n;
  switch (value.type.kind) {
    case 'bool':
      return value.data as boolean;
    case 'string':
      return value.data !== '';
    case 'float64':
      return value.data !== 0;
    case 'complex128': {
      const { re, im } = value.data as Complex;
      return re !== 0 || im !== 0;
    }
    case 'map':
      return ((value.data as GoMap | null)?.size ?? 0) > 0;
    case 'slice':
      return ((value.data as readonly unknown[] | null)?.length ?? 0) > 0;
    case 'struct':
      return true;
    default:
      return value.data !== null;
  }
}

/** The value in an interface; undefined for a nil interface (indirectInterface). */
export function unwrap(value: Value | undefined): Value | undefined {
  return value?.type.kind === 'interface' ? ((value as Value<Any>).data ?? undefined) : value;
}
