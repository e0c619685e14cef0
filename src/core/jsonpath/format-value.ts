import { isInteger, JsonFloat } from './json-float.ts';
import { compareUtf8 } from '../model/utf8-order.ts';

/** What kubectl prints for one result: scalars as text, lists and maps as compact JSON. */
export function formatJsonPathValue(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || value instanceof JsonFloat) return formatFloatOrInteger(value);
  if (typeof value === 'object') return toGoJson(value);
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value);
}

/**
 * JSON as Go's encoder writes it: keys in byte order, no blanks, `<`, `>`, `&` and the two line separators escaped.
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

/** A lone surrogate has no UTF-8 form: Go's decoder has made it U+FFFD already. */
function goJsonString(text: string): string {
  return JSON.stringify(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** JavaScript and Go agree on digits and on when an exponent is used (from 1e21, below 1e-6), and on its form. */
function goJsonFloat(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

function formatFloatOrInteger(value: number | JsonFloat): string {
  const plain = value instanceof JsonFloat ? value.value : value;
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value).toString();
  const size = Math.abs(plain);
  if (size === 0 || (size >= 1e-4 && size < 1e21)) return String(plain);
  return plain.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}
