import { encodeRunes, isAscii, runesOf } from '../../text/bytes.ts';

/** A byte string with U+FFFD for each byte that is not UTF-8. */
export function toValidUtf8(bytes: string): string {
  return isAscii(bytes) ? bytes : encodeRunes(runesOf(bytes));
}
