import type { Any } from '../../value/go-type.ts';

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
