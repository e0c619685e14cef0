import { decode, encode } from '@berth/go-template/text/bytes';
import { quote } from '@berth/go-template/text/quote';
import { JsonText } from '@berth/go-template/values';
import type { JsonValue } from './json-value.ts';

/**
 * JSON as the encoder of Go writes it. `<`, `>` and `&` are escaped on request. The line separators
 * of JavaScript are always escaped.
 * @param asGo whether to sort the keys of maps and escape HTML, as for a value that the encoder of
 * Go wrote
 */
export function goJsonText(value: JsonValue, asGo: boolean): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value === 'string') return goJsonString(value, asGo);
  if (Array.isArray(value)) return `[${value.map((item: JsonValue) => goJsonText(item, asGo)).join(',')}]`;
  const object = value as { readonly [key: string]: JsonValue };
  const keys = asGo ? Object.keys(object).sort() : Object.keys(object);
  return `{${keys.map((key) => `${goJsonString(key, asGo)}:${goJsonText(object[key] ?? null, asGo)}`).join(',')}}`;
}

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

/** A text as Go's `%q` writes it. */
export function quoteAsGo(text: string): string {
  return decode(quote(encode(text)));
}

/** A field that Argo CD keeps as JSON text (`RawExtension`, `JSON`). */
export class RawJson extends JsonText {
  readonly value: JsonValue;
  /**
   * True if the encoder of Go wrote the text, which sorts keys and escapes `<`, `>` and `&`. False
   * if the text is as the user wrote it.
   */
  readonly rewritten: boolean;

  constructor(value: JsonValue, rewritten = false) {
    super();
    this.value = value;
    this.rewritten = rewritten;
  }

  get text(): string {
    return goJsonText(this.value, this.rewritten);
  }
}
