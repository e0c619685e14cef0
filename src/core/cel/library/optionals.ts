import { celMapSize, isCelMap } from '../cel-map.ts';
import type { CelValue } from '../cel-value.ts';
import {
  CelDouble,
  CelDuration,
  CelFailure,
  CelOptional,
  CelTimestamp,
  CelUint,
  OPTIONAL_NONE,
} from '../cel-value.ts';
import type { CelOverload } from '../overload.ts';
import { overload } from '../overload.ts';

/** Optional values. `or`, `orValue`, `optMap` and `optFlatMap` are macros: build-optional-macro.ts. */

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
];

const ABSENT = new CelFailure('optional.none() dereference');
