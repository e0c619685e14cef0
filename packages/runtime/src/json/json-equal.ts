/** Called before a list or an object is read, with the number of its entries; may throw, which ends the reading. */
export type ChargeEntries = (count: number, isList: boolean) => void;

/**
 * Deep equality of JSON values; a key that is undefined counts as absent, the order of keys does
 * not count.
 * @param spend charges the work; absent: no accounting
 */
export function jsonEqual(a: unknown, b: unknown, spend?: ChargeEntries): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (!Array.isArray(a)) return !Array.isArray(b) && fieldsEqual(a as Fields, b as Fields, spend);
  if (!Array.isArray(b) || a.length !== b.length) return false;
  spend?.(a.length, true);
  for (let index = 0; index < a.length; index++) if (!jsonEqual(a[index], b[index], spend)) return false;
  return true;
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsEqual(left: Fields, right: Fields, spend: ChargeEntries | undefined): boolean {
  const keys = Object.keys(left);
  const size = Object.keys(right).length;
  spend?.(keys.length, false);
  if (keys.length !== size && countPresent(left) !== countPresent(right)) return false;
  let shared = 0;
  for (const key of keys) {
    const isShared = Object.hasOwn(right, key);
    if (isShared) shared++;
    if (!jsonEqual(left[key], isShared ? right[key] : undefined, spend)) return false;
  }
  return shared === size || countPresent(left) === countPresent(right);
}

function countPresent(fields: Fields): number {
  return Object.values(fields).filter((value) => value !== undefined).length;
}

interface CanonicalForm {
  /** Sorts the keys of an object. */
  readonly sort: (keys: string[]) => readonly string[];
  readonly spend?: ChargeEntries;
}

/**
 * JSON text with sorted keys, so that equal values give equal texts. A bigint is written as an
 * integer. Implemented without a replacer of JSON.stringify, which takes several times as long.
 *
 * Keys that are array indexes are first, as in JavaScript, because digests of such texts are stored
 * on disks and in annotations. The hub sorts all keys as Go does, because its texts are keys of
 * managedFields (hub/json/canonical-json.ts).
 */
export function canonicalJson(value: unknown, form: CanonicalForm = INDEXES_FIRST): string {
  if (form === INDEXES_FIRST && isInOrder(value)) return JSON.stringify(value) ?? 'null';
  return canonicalText(value, form) ?? 'null';
}

/**
 * Whether JSON.stringify writes the value as `canonicalJson` does: all keys are in order, as an API server writes those of custom
 * resources, and nothing in it has a form of its own. The text then takes a third of the time.
 */
function isInOrder(value: unknown): boolean {
  if (typeof value === 'bigint') return false;
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isInOrder);
  if ('toJSON' in value) return false;
  let before = '';
  for (const key of Object.keys(value)) {
    if (key < before && !isArrayIndex(before)) return false;
    if (!isInOrder((value as Fields)[key])) return false;
    before = key;
  }
  return true;
}

/** Undefined for what JSON leaves out. */
function canonicalText(value: unknown, form: CanonicalForm): string | undefined {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) {
    form.spend?.(value.length, true);
    return `[${value.map((item) => canonicalText(item, form) ?? 'null').join(',')}]`;
  }
  // A function only: in data from outside it may be the name of a key like any other.
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return canonicalText(JSON.parse(JSON.stringify(value)), form);
  const keys = Object.keys(value);
  form.spend?.(keys.length, false);
  let text = '';
  for (const key of form.sort(keys)) {
    const item = canonicalText((value as Fields)[key], form);
    if (item !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${item}`;
  }
  return `{${text}}`;
}

const INDEXES_FIRST: CanonicalForm = {
  sort(keys) {
    let indexes = 0;
    while (indexes < keys.length && isArrayIndex(keys[indexes] ?? '')) indexes++;
    return indexes === 0 ? keys.sort() : [...keys.slice(0, indexes), ...keys.slice(indexes).sort()];
  },
};

/** JavaScript keeps such keys in front, in the order of their numbers. */
function isArrayIndex(key: string): boolean {
  const first = key.charCodeAt(0);
  return first >= 0x30 && first <= 0x39 && /^(?:0|[1-9]\d{0,9})$/.test(key) && Number(key) < 4_294_967_295;
}

/** JSON of a value that may contain bigints, which `JSON.stringify` refuses. If it contains one, the keys are sorted. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof TypeError) return canonicalJson(value);
    throw error;
  }
}
