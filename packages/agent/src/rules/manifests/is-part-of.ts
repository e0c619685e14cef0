import { jsonEqual } from '@berth/runtime/json/json-equal';

/**
 * Whether `part` results from `whole` by removing fields and list items, without additions, moves
 * or changes.
 */
export function isPartOf(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part)) return Array.isArray(whole) && isPartOfList(part, whole);
  if (typeof part !== 'object' || part === null) return jsonEqual(part, whole);
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return false;
  return Object.entries(part).every(
    ([key, value]) =>
      Object.hasOwn(whole, key) && isPartOf(value, (whole as Readonly<Record<string, unknown>>)[key]),
  );
}

/** Each item matches the first candidate after the previous match, so the list is read once. */
function isPartOfList(part: readonly unknown[], whole: readonly unknown[]): boolean {
  let at = 0;
  for (const item of part) {
    while (at < whole.length && !isPartOf(item, whole[at])) at++;
    if (at === whole.length) return false;
    at++;
  }
  return true;
}
