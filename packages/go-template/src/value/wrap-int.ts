/** Go's integers wrap around at 64 bits. */
export function wrap64(value: bigint): bigint {
  return BigInt.asIntN(64, value);
}

const MIN_INT64 = -(1n << 63n);

/**
 * A float64 as an int64, converted as on amd64. A number that does not fit becomes the smallest
 * int64.
 */
export function floatToInt64(value: number): bigint {
  if (!Number.isFinite(value)) return MIN_INT64;
  const whole = BigInt(Math.trunc(value));
  return BigInt.asIntN(64, whole) === whole ? whole : MIN_INT64;
}
