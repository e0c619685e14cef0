/**
 * Limits of all warnings of one response, and of each one if all together are too long. Source:
 * filters/warning.go of k8s.io/apiserver.
 */
const MAX_TOTAL_LENGTH = 4 * 1024;
const MAX_ITEM_LENGTH = 256;

/**
 * Values of `Warning` headers. When all texts together are too long, each is cut and those that then still do not fit are left out,
 * as upstream does: clients reject responses with headers of more than some kilobytes.
 */
export function warningHeaders(texts: readonly string[]): readonly string[] {
  const distinct = [...new Set(texts)];
  const length = distinct.reduce((sum, text) => sum + text.length, 0);
  if (length <= MAX_TOTAL_LENGTH) return distinct.map(warningHeader);
  const headers: string[] = [];
  let written = 0;
  for (const text of distinct) {
    if (written >= MAX_TOTAL_LENGTH) break;
    const kept = text.slice(0, MAX_ITEM_LENGTH);
    written += kept.length;
    headers.push(warningHeader(kept));
  }
  return headers;
}

/** RFC 7234 warn-text: quotes and backslashes escaped, control characters out. */
function warningHeader(text: string): string {
  const safe = text.replace(/[^ -~]/gu, ' ');
  return `299 - "${safe.replace(/[\\"]/g, '\\$&')}"`;
}
