import type { Any, Value } from './go-type.ts';

/** The value in an interface; undefined for a nil interface (indirectInterface). */
export function unwrap(value: Value | undefined): Value | undefined {
  return value?.type.kind === 'interface' ? ((value as Value<Any>).data ?? undefined) : value;
}
