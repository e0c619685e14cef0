import { decodeRune, isAscii } from './bytes.ts';
import { isSpace } from './unicode.ts';

/** strings.TrimSpace of a text (not of bytes). Each white space character is one UTF-16 unit. */
export function trimSpace(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** strings.TrimSpace of a byte string. */
export function trimSpaceBytes(bytes: string): string {
  return isAscii(bytes) ? trimSpace(bytes) : trimRunes(bytes, isSpace);
}

/** strings.TrimFunc: without the characters at both ends that the test accepts. */
export function trimRunes(bytes: string, isCut: (rune: number) => boolean): string {
  let start = -1;
  let end = 0;
  for (let at = 0; at < bytes.length; ) {
    const { rune, width } = decodeRune(bytes, at);
    if (!isCut(rune)) {
      if (start < 0) start = at;
      end = at + width;
    }
    at += width;
  }
  return start < 0 ? '' : bytes.slice(start, end);
}
