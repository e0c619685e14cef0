import { sprint, sprintf } from '../fmt/sprintf.ts';
import { decodeRune } from '../text/bytes.ts';
import { hex } from '../text/quote.ts';
import { isPrint } from '../text/unicode.ts';
import type { Any } from '../value/go-type.ts';
import { INT32, isString, STRING, valueOf } from '../value/go-type.ts';
import { checkText } from '../value/work.ts';

/** The text of the arguments, as an action would print each of them. */
export function argsText(args: readonly Any[]): string {
  const [first] = args;
  if (args.length === 1 && isString(first)) return first.data;
  return sprint(args.map((arg) => arg ?? valueOf(STRING, '<no value>')));
}

const HTML: Readonly<Record<string, string>> = {
  '\0': '\xef\xbf\xbd',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
};

export function escapeHtml(bytes: string): string {
  return checked(bytes.replaceAll(/[\0"'&<>]/g, (char) => HTML[char] ?? char));
}

const JAVASCRIPT: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '<': '\\u003C',
  '>': '\\u003E',
  '&': '\\u0026',
  '=': '\\u003D',
};

export function escapeJavaScript(bytes: string): string {
  let escaped = '';
  for (let at = 0; at < bytes.length; ) {
    const { rune, width } = decodeRune(bytes, at);
    const char = bytes.slice(at, at + width);
    if (rune >= 0x80) escaped += isPrint(rune) ? char : sprintf('\\u%04X', [valueOf(INT32, BigInt(rune))]);
    else if (rune < 0x20) escaped += `\\u00${hex(rune, 2).toUpperCase()}`;
    else escaped += JAVASCRIPT[char] ?? char;
    at += width;
  }
  return checked(escaped);
}

/** url.QueryEscape */
export function escapeQuery(bytes: string): string {
  return checked(
    bytes.replaceAll(/[^A-Za-z0-9\-_.~]/g, (byte) =>
      byte === ' ' ? '+' : `%${hex(byte.charCodeAt(0), 2).toUpperCase()}`,
    ),
  );
}

function checked(text: string): string {
  checkText(text.length);
  return text;
}
