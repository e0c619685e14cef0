import { checkText } from '../../value/work.ts';
import { sliceText } from '../../value/go-slice.ts';
import { encodeRune } from '../../text/bytes.ts';
import { isSpace } from '../../text/unicode.ts';

/** goutils.WrapCustom: lines of at most `width` bytes, broken at spaces. */
export function wrapText(
  text: string,
  width: number,
  { newLine, breakWords }: { readonly newLine: string; readonly breakWords: boolean },
): string {
  const [length, line] = [Math.max(width, 1), newLine === '' ? '\n' : newLine];
  let [wrapped, at] = ['', 0];
  while (text.length - at > length) {
    if (text[at] === ' ') {
      at++;
      continue;
    }
    const space = text.slice(at, at + length + 1).lastIndexOf(' ');
    let end = at + space;
    let next = end + 1;
    if (space < 0) {
      const following = breakWords ? -1 : text.indexOf(' ', at + length);
      if (!breakWords && following < 0) break;
      end = breakWords ? at + length : following;
      next = breakWords ? end : end + 1;
    }
    wrapped += text.slice(at, end) + line;
    checkText(wrapped.length);
    at = next;
  }
  return wrapped + text.slice(at);
}

/**
 * goutils.AbbreviateFull. Where it fails, this returns an empty text, because sprig drops the
 * error.
 */
export function abbreviate(text: string, offset: number, width: number): string {
  if (text === '' || width < 4) return '';
  if (text.length <= width) return text;
  let from = Math.min(offset, text.length);
  if (text.length - from < width - 3) from = text.length - (width - 3);
  if (from <= 4) return `${text.slice(0, width - 3)}...`;
  if (width < 7) return '';
  if (from + width - 3 < text.length)
    return `...${abbreviate(sliceText(text, from, text.length), 0, width - 3)}`;
  return `...${text.slice(text.length - (width - 3))}`;
}

/**
 * goutils.DeleteWhiteSpace. It treats bytes as characters. If it removes a space, it therefore
 * corrupts characters outside of ASCII.
 */
export function withoutSpace(bytes: string): string {
  const kept = [...bytes].filter((byte) => !isSpace(byte.charCodeAt(0)));
  return kept.length === bytes.length ? bytes : kept.map((byte) => encodeRune(byte.charCodeAt(0))).join('');
}

/** goutils.Initials. It treats bytes as characters too. */
export function initials(bytes: string): string {
  let [result, afterGap] = ['', true];
  for (const byte of bytes) {
    const space = isSpace(byte.charCodeAt(0));
    if (!space && afterGap) result += encodeRune(byte.charCodeAt(0));
    afterGap = space;
  }
  return result;
}
