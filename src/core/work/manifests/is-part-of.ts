import { jsonEqual } from '../../model/json-equal.ts';

/** Is `part` what is left of `whole` when fields and list items are taken away, and nothing is added, moved or changed? */
export function isPartOf(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part)) return Array.isArray(whole) && isPartOfList(part, whole);
  if (typeof part !== 'object' || part === null) return jsonEqual(part, whole);
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return false;
  return Object.entries(part).every(
    ([key, value]) =>
      Object.hasOwn(whole, key) && isPartOf(value, (whole as Readonly<Record<string, unknown>>)[key]),
  );
}

/** Each item takes the first match behind the match of the item before it, so the whole list is read once. */
function isPartOfList(part: readonly unknown[], whole: readonly unknown[]): boolean {
  let at = 0;
  for (const item of part) {
    while (at < whole.length && !isPartOf(item, whole[at])) at++;
    if (at === whole.length) return false;
    at++;
  }
  return true;
}
