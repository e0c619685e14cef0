/**
 * A number that is a float because of how it was written (`1.0`, `2e3`) or what it is, not because
 * of its value. Plain JavaScript numbers cannot distinguish `1.0` from `1`; parsers keep the
 * difference with this class.
 */
export class JsonFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** From here on a whole number does not fit 64 bits, and Go reads it as a float. */
const INT64_LIMIT = 2 ** 63;

/**
 * A whole number that Go would hold in an int64. Of a plain number its size decides: JSON from a Kubernetes API never writes `1.0`
 * (Go's encoder writes whole floats below 1e21 without a point), so what looks like a whole number was written as one.
 */
export function isInteger(value: unknown): value is number | bigint {
  if (typeof value === 'bigint') return true;
  return typeof value === 'number' && Number.isInteger(value) && value >= -INT64_LIMIT && value < INT64_LIMIT;
}

/** Go's name of the type that a JSON value is decoded to, for error messages. */
export function goTypeName(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (isInteger(value)) return 'int64';
  if (typeof value === 'number' || value instanceof JsonFloat) return 'float64';
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
}
