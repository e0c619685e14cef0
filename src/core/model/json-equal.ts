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

/**
 * JSON text with sorted keys (those that count as array indexes first, as JavaScript has them): equal values give equal texts,
 * whatever the order they were written in. A bigint is the whole number that it is. Written out by hand: a replacer of JSON.stringify costs several times as much.
 */
export function canonicalJson(value: unknown): string {
  return canonicalText(value) ?? 'null';
}

/** Undefined for what JSON leaves out. */
function canonicalText(value: unknown): string | undefined {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => canonicalText(item) ?? 'null').join(',')}]`;
  // A function only: in data from outside it may be the name of a key like any other.
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return canonicalText(JSON.parse(JSON.stringify(value)));
  let text = '';
  for (const key of sortedKeys(value)) {
    const item = canonicalText((value as Readonly<Record<string, unknown>>)[key]);
    if (item !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${item}`;
  }
  return `{${text}}`;
}

function sortedKeys(value: object): readonly string[] {
  const keys = Object.keys(value);
  let indexes = 0;
  while (indexes < keys.length && isArrayIndex(keys[indexes] ?? '')) indexes++;
  return indexes === 0 ? keys.sort() : [...keys.slice(0, indexes), ...keys.slice(indexes).sort()];
}

/** JavaScript keeps such keys in front, in the order of their numbers. */
function isArrayIndex(key: string): boolean {
  const first = key.charCodeAt(0);
  return first >= 0x30 && first <= 0x39 && /^(?:0|[1-9]\d{0,9})$/.test(key) && Number(key) < 4_294_967_295;
}
