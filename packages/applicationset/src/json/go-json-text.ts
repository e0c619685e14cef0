import { decode, encode } from '@berth/go-template/text/bytes';
import { quote } from '@berth/go-template/text/quote';
import { JsonText } from '@berth/go-template/values';
import { goJsonString, goJsonText as sortedGoJsonText } from '@berth/runtime/json/go-json-text';
import type { JsonValue } from './json-value.ts';

/**
 * JSON as the encoder of Go writes it. `<`, `>` and `&` are escaped on request. The line separators
 * of JavaScript are always escaped.
 * @param asGo whether to sort the keys of maps and escape HTML, as for a value that the encoder of
 * Go wrote
 */
export function goJsonText(value: JsonValue, asGo: boolean): string {
  if (asGo) return sortedGoJsonText(value);
  if (typeof value === 'string') return goJsonString(value, false);
  if (Array.isArray(value)) return `[${value.map((item: JsonValue) => goJsonText(item, false)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return sortedGoJsonText(value);
  const fields = Object.entries(value as Readonly<Record<string, JsonValue>>);
  return `{${fields.map(([key, item]) => `${goJsonString(key, false)}:${goJsonText(item, false)}`).join(',')}}`;
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
