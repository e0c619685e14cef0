import { JsonFloat, isInteger } from '@berth/runtime/json/json-float';
import { compareUtf8 } from '@berth/runtime/text/utf8';

/** Formats one result as kubectl prints it: a scalar as text, a list or a map as compact JSON. */
export function formatJsonPathValue(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || value instanceof JsonFloat) return formatFloatOrInteger(value);
  if (typeof value === 'object') return toGoJson(value);
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value);
}

/** As Go's `%v` does for a float64: with an exponent of at least two digits from 1e21 and below 1e-4. */
function formatFloatOrInteger(value: number | JsonFloat): string {
  const number = value instanceof JsonFloat ? value.value : value;
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value).toString();
  const magnitude = Math.abs(number);
  if (magnitude === 0 || (magnitude >= 1e-4 && magnitude < 1e21)) return String(number);
  return number.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

/**
 * Writes a value as Go's encoding/json does: keys in byte order, no spaces, and `<`, `>`, `&`, U+2028 and U+2029 escaped.
 */
export function toGoJson(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return isInteger(value) ? BigInt(value).toString() : goJsonFloat(value);
  if (value instanceof JsonFloat) return goJsonFloat(value.value);
  if (typeof value === 'string') return goJsonString(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toGoJson).join(',')}]`;
  const fields = Object.entries(value).sort(([a], [b]) => compareUtf8(a, b));
  return `{${fields.map(([key, field]) => `${goJsonString(key)}:${toGoJson(field)}`).join(',')}}`;
}

/** Replaces a lone surrogate by U+FFFD as Go's decoder does, because it has no UTF-8 form. */
function goJsonString(text: string): string {
  return JSON.stringify(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** JavaScript and Go write the same digits, and both use an exponent from 1e21 and below 1e-6. They differ only for -0. */
function goJsonFloat(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}
