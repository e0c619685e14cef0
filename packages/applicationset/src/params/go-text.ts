import { StringMap } from '@berth/go-template/values';
import { RawJson } from '../json/raw-json.ts';
import type { ParamValue } from './params.ts';

/**
 * A value as `fmt.Sprintf("%v")` of Go prints it. Map keys are sorted.
 * @param integers whether whole numbers are integers, as in objects of the API server; otherwise
 * every number is a float
 */
export function goText(value: ParamValue | bigint, integers = false): string {
  if (value === null) return '<nil>';
  if (typeof value === 'number')
    return integers && Number.isSafeInteger(value) ? String(value) : goFloatText(value);
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return `[${value.map((item: ParamValue) => goText(item, integers)).join(' ')}]`;
  if (value instanceof RawJson) return `{[${[...Buffer.from(value.text)].join(' ')}]}`;
  const entries = value instanceof StringMap ? value.entries : (value as Record<string, ParamValue>);
  const keys = Object.keys(entries).sort();
  return `map[${keys.map((key) => `${key}:${goText(entries[key] ?? null, integers)}`).join(' ')}]`;
}

/** A float64 as `%v` prints it: the shortest digits, with an exponent below 1e-4 and from 1e+06 on. */
function goFloatText(value: number): string {
  const [, sign = '', digits = '', exponentText = '0'] =
    /^(-?)([\d.]+)e([+-]\d+)$/.exec(value.toExponential()) ?? [];
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return Object.is(value, -0) ? '-0' : String(value);
  return `${sign}${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
