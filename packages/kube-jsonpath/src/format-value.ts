import { toGoJson } from './go-json.ts';
import { JsonFloat } from '@berth/runtime/json/json-float';

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
