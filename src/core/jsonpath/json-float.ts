/**
 * A number that is a float because of how it was written (`1.0`, `2e3`) or what it is, not because of its value.
 * Plain JavaScript numbers cannot tell `1.0` from `1`; readers that hold the text keep the difference with this.
 */
export class JsonFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** A whole number of any size: what JSON wrote without point or exponent. */
export function isInteger(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
}

/** Go's name of the type a JSON value is decoded to; error texts speak of it. */
export function goTypeName(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (isInteger(value)) return 'int64';
  if (typeof value === 'number' || value instanceof JsonFloat) return 'float64';
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
}
