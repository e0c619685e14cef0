import { decodeRune } from '../text/bytes.ts';
import { GoError } from '../value/go-error.ts';

const PRINTABLE = /^[\t\n\r\x20-\x7e]*$/;

/**
 * Checks that a byte string has only characters that YAML allows.
 * @throws GoError with the message of go-yaml
 */
export function checkYamlCharacters(bytes: string): void {
  if (PRINTABLE.test(bytes)) return;
  for (let at = 0; at < bytes.length; ) {
    const { rune, width } = decodeRune(bytes, at);
    if (width === 1 && bytes.charCodeAt(at) >= 0x80) throw new GoError(`yaml: ${whatIsWrong(bytes, at)}`);
    if (!isAllowed(rune)) throw new GoError('yaml: control characters are not allowed');
    at += width;
  }
}

function isAllowed(rune: number): boolean {
  if (rune < 0xa0)
    return rune === 0x09 || rune === 0x0a || rune === 0x0d || rune === 0x85 || (rune >= 0x20 && rune <= 0x7e);
  return rune <= 0xfffd || rune >= 0x10000;
}

/** The problem of bytes that are not valid UTF-8. */
function whatIsWrong(bytes: string, at: number): string {
  const first = bytes.charCodeAt(at);
  if (first < 0xc0 || first >= 0xf8) return 'invalid leading UTF-8 octet';
  const width = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (at + width > bytes.length) return 'incomplete UTF-8 octet sequence';
  const rest = bytes.slice(at + 1, at + width);
  if (!/^[\x80-\xbf]+$/.test(rest)) return 'invalid trailing UTF-8 octet';
  const isSurrogate = first === 0xed && rest.charCodeAt(0) >= 0xa0;
  const isBeyond = first > 0xf4 || (first === 0xf4 && rest.charCodeAt(0) >= 0x90);
  return isSurrogate || isBeyond ? 'invalid Unicode character' : 'invalid length of a UTF-8 sequence';
}
