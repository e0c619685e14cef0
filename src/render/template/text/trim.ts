import { isSpace } from './unicode.ts';

/** strings.TrimSpace of a text (not of bytes). White space has one UTF-16 unit a character. */
export function trimSpace(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}
