const SIMPLE: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/**
 * The text of a Go-style literal in single or double quotes; undefined when it is not one. An escaped quote
 * must be the kind that encloses the literal.
 */
export function unquote(literal: string): string | undefined {
  const quote = literal[0];
  if (literal.length < 2 || (quote !== '"' && quote !== "'") || literal.at(-1) !== quote) return undefined;
  const body = literal.slice(1, -1);
  let text = '';
  let at = 0;
  while (at < body.length) {
    const char = body[at] as string;
    if (char === quote || char === '\n') return undefined;
    if (char !== '\\') {
      text += char;
      at += 1;
      continue;
    }
    const escape = readEscape(body, at + 1, quote);
    if (escape === undefined) return undefined;
    text += escape.text;
    at = escape.end;
  }
  return text;
}

function readEscape(
  body: string,
  at: number,
  quote: string,
): { readonly text: string; readonly end: number } | undefined {
  const char = body[at];
  if (char === undefined) return undefined;
  if (char === quote) return { text: quote, end: at + 1 };
  if (Object.hasOwn(SIMPLE, char)) return { text: SIMPLE[char] as string, end: at + 1 };
  if (Object.hasOwn(HEX_DIGITS, char)) {
    const end = at + 1 + (HEX_DIGITS[char] as number);
    return codePoint(body.slice(at + 1, end), 16, end - at - 1, end);
  }
  return codePoint(body.slice(at, at + 3), 8, 3, at + 3);
}

function codePoint(
  digits: string,
  radix: 8 | 16,
  length: number,
  end: number,
): { readonly text: string; readonly end: number } | undefined {
  const allowed = radix === 8 ? /^[0-7]+$/ : /^[0-9a-fA-F]+$/;
  if (digits.length !== length || !allowed.test(digits)) return undefined;
  const code = Number.parseInt(digits, radix);
  const limit = radix === 8 ? 0xff : 0x10ffff;
  if (code > limit || (code >= 0xd800 && code <= 0xdfff)) return undefined;
  return { text: String.fromCodePoint(code), end };
}
