import { celMapSize, isCelMap } from '../value/cel-map.ts';
import type { CelResult, CelValue } from '../value/cel-value.ts';
import {
  CelDouble,
  CelDuration,
  CelFailure,
  CelOptional,
  CelTimestamp,
  CelUint,
  celTypeName,
  lift,
  OPTIONAL_NONE,
} from '../value/cel-value.ts';
import { type CelOverload, overload } from '../value/overload.ts';

/** Optional values. `or`, `orValue`, `optMap` and `optFlatMap` are macros: build/build-call.ts. */

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === '' || value === 0n) return true;
  if (value instanceof CelDouble) return value.value === 0;
  if (value instanceof CelUint) return value.value === 0n;
  if (value instanceof CelTimestamp || value instanceof CelDuration) return value.nanos === 0n;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0;
  return isCelMap(value) && celMapSize(value) === 0;
}

export const OPTIONALS: readonly CelOverload[] = [
  overload('optional.of(T): optional<T>', (value: CelValue) => new CelOptional(value)),
  overload('optional.ofNonZeroValue(T): optional<T>', (value: CelValue) =>
    isZero(value) ? OPTIONAL_NONE : new CelOptional(value),
  ),
  overload('optional.none(): optional<dyn>', () => OPTIONAL_NONE),
  overload('optional<T>.hasValue(): bool', (optional: CelOptional) => optional.value !== undefined),
  overload(
    'optional<T>.value(): T',
    (optional: CelOptional) => optional.value ?? (optional.value === undefined ? ABSENT : null),
  ),
  overload('list<T>.first(): optional<T>', (list: readonly unknown[]) => at(list, 0)),
  overload('list<T>.last(): optional<T>', (list: readonly unknown[]) => at(list, list.length - 1)),
  overload('optional.unwrap(list<optional<T>>): list<T>', unwrap),
  overload('list<optional<T>>.unwrapOpt(): list<T>', unwrap),
];

function at(list: readonly unknown[], index: number): CelOptional {
  return list.length === 0 ? OPTIONAL_NONE : new CelOptional(lift(list[index]));
}

/** The values of the optionals that have one. */
function unwrap(list: readonly unknown[]): CelResult {
  const values: CelValue[] = [];
  for (const item of list) {
    const value = lift(item);
    if (!(value instanceof CelOptional))
      return new CelFailure(`no such overload: optional.unwrap on a list with ${celTypeName(value)}`);
    if (value.value !== undefined) values.push(value.value);
  }
  return values;
}

const ABSENT = new CelFailure('optional.none() dereference');
