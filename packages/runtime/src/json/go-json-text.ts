import { compareUtf8 } from '../text/utf8.ts';
import { JsonFloat } from './json-float.ts';

/**
 * JSON as Go's `encoding/json` writes a map: no blanks, keys in the order of their UTF-8 bytes, `<`, `>` and `&` escaped. Hashes that
 * Go programs make of such a text are equal to ours.
 * @param value JSON as parsed; whole numbers beyond 2^53 as bigint, and `JsonFloat` where `1.0` must stay a float
 */
export function goJsonText(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'boolean') return String(value ?? null);
  // JavaScript and Go use an exponent for the same numbers: below 1e-6 and from 1e21.
  if (value instanceof JsonFloat) return goJsonText(value.value);
  if (typeof value === 'bigint' || typeof value === 'number')
    return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value === 'string') return goJsonString(value, true);
  if (Array.isArray(value)) return `[${value.map(goJsonText).join(',')}]`;
  const object = value as Readonly<Record<string, unknown>>;
  const fields = Object.keys(object)
    .sort(compareUtf8)
    .map((key) => `${goJsonString(key, true)}:${goJsonText(object[key])}`);
  return `{${fields.join(',')}}`;
}

/** A text in quotes, as Go's encoder writes it. The line separators of JavaScript are always escaped, HTML on request. */
export function goJsonString(text: string, escapeHtml: boolean): string {
  const quoted = JSON.stringify(wellFormed(text)).replace(/[\u2028\u2029]/g, unicodeEscape);
  return escapeHtml ? quoted.replace(/[<>&]/g, unicodeEscape) : quoted;
}

const unicodeEscape = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A text in which each half of a surrogate pair becomes U+FFFD, as in Go. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
