/** Deep equality of JSON values; a key that is undefined counts as absent, the order of keys does not count. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => jsonEqual(item, b[index]));
  }
  const left = a as Readonly<Record<string, unknown>>;
  const right = b as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(left))
    if (!jsonEqual(left[key], Object.hasOwn(right, key) ? right[key] : undefined)) return false;
  for (const key of Object.keys(right))
    if (right[key] !== undefined && !Object.hasOwn(left, key)) return false;
  return true;
}

/** JSON text with sorted keys: equal values give equal texts, whatever the order they were written in. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}
