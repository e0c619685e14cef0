import { decodeRune } from '../text/bytes.ts';
import { hex, quote, quoteToAscii } from '../text/quote.ts';
import { checkText } from '../value/work.ts';
import type { Flags } from './flags.ts';
import { pad } from './flags.ts';

/** A string formatted with a verb; undefined if the verb is not for strings. */
export function formatString(bytes: string, verb: string, flags: Flags): string | undefined {
  switch (verb) {
    case 'v':
      return flags.sharpV ? quoted(bytes, flags) : pad(truncate(bytes, flags), flags);
    case 's':
      return pad(truncate(bytes, flags), flags);
    case 'x':
      return hexadecimal(bytes, flags);
    case 'X':
      return hexadecimal(bytes, flags).toUpperCase();
    case 'q':
      return quoted(bytes, flags);
    default:
      return undefined;
  }
}

function truncate(bytes: string, flags: Flags): string {
  if (flags.precision === undefined) return bytes;
  let at = 0;
  for (let count = 0; count < flags.precision && at < bytes.length; count++)
    at += decodeRune(bytes, at).width;
  return bytes.slice(0, at);
}

function quoted(bytes: string, flags: Flags): string {
  const text = truncate(bytes, flags);
  if (flags.sharp && canBackquote(text)) return pad(`\`${text}\``, flags);
  return pad(flags.plus ? quoteToAscii(text) : quote(text), flags);
}

/**
 * strconv.CanBackquote: one line, no control characters except tab, no byte order mark, valid
 * UTF-8.
 */
function canBackquote(bytes: string): boolean {
  for (let at = 0; at < bytes.length; ) {
    const { rune, width } = decodeRune(bytes, at);
    at += width;
    if (
      width > 1
        ? rune === 0xfeff
        : rune === 0xfffd || (rune < 0x20 && rune !== 9) || rune === 0x60 || rune === 0x7f
    )
      return false;
  }
  return true;
}

function hexadecimal(bytes: string, flags: Flags): string {
  const shown = flags.precision === undefined ? bytes : bytes.slice(0, flags.precision);
  checkText(shown.length * 4);
  const pairs = [...shown].map((byte) => hex(byte.charCodeAt(0), 2));
  const prefix = flags.sharp && pairs.length > 0 ? '0x' : '';
  const text = flags.space ? pairs.map((pair) => prefix + pair).join(' ') : prefix + pairs.join('');
  return pad(text, flags);
}
