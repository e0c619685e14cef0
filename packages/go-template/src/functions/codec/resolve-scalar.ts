import { parseFloat64, parseInt64, parseUint } from '../../text/parse-number.ts';

/** The meaning of a plain scalar of YAML 1.1 in go-yaml v2 (resolve.go). */
export type Scalar =
  | { readonly tag: 'str' | 'merge' | 'timestamp'; readonly value: string }
  | { readonly tag: 'null'; readonly value: null }
  | { readonly tag: 'bool'; readonly value: boolean }
  | { readonly tag: 'int'; readonly value: bigint }
  | { readonly tag: 'float'; readonly value: number };

const WORDS: ReadonlyMap<string, Scalar> = new Map<string, Scalar>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map(
    (word) => [word, { tag: 'bool', value: true }] as const,
  ),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map(
    (word) => [word, { tag: 'bool', value: false }] as const,
  ),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, { tag: 'null', value: null }] as const),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, { tag: 'float', value: NaN }] as const),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map(
    (word) => [word, { tag: 'float', value: Infinity }] as const,
  ),
  ...['-.inf', '-.Inf', '-.INF'].map((word) => [word, { tag: 'float', value: -Infinity }] as const),
  ['<<', { tag: 'merge', value: '<<' }],
]);
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;

export function resolveScalar(text: string): Scalar {
  const word = WORDS.get(text);
  // The merge key begins with a character that go-yaml does not look up.
  if (word !== undefined) return word;
  if (text.startsWith('.')) {
    const number = parseFloat64(text);
    return typeof number === 'number' ? { tag: 'float', value: number } : { tag: 'str', value: text };
  }
  return /^[-+0-9]/.test(text) ? resolveNumber(text) : { tag: 'str', value: text };
}

function resolveNumber(text: string): Scalar {
  if (isTimestamp(text)) return { tag: 'timestamp', value: text };
  const plain = text.replaceAll('_', '');
  const int = parseInt64(plain);
  if (typeof int === 'bigint') return { tag: 'int', value: int };
  const uint = parseUint(plain);
  if (typeof uint === 'bigint') return { tag: 'int', value: uint };
  const float = FLOAT.test(plain) ? parseFloat64(plain) : undefined;
  return typeof float === 'number' ? { tag: 'float', value: float } : { tag: 'str', value: text };
}

const DATE =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?(?:Z|[-+](\d\d):(\d\d))| (\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?)?$/;

/** The formats that go-yaml tries: a date, or a date and a time. */
function isTimestamp(text: string): boolean {
  const parts = DATE.exec(text)
    ?.slice(1)
    .map((part) => Number(part ?? 0));
  if (parts === undefined) return false;
  const [
    year = 0,
    month = 0,
    day = 0,
    hour = 0,
    minute = 0,
    second = 0,
    zoneHour = 0,
    zoneMinute = 0,
    ...spaced
  ] = parts;
  const [spacedHour = 0, spacedMinute = 0, spacedSecond = 0] = spaced;
  return (
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate() &&
    Math.max(hour, spacedHour) < 24 &&
    Math.max(minute, second, spacedMinute, spacedSecond) < 60 &&
    zoneHour <= 24 &&
    zoneMinute < 60
  );
}

const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

/** Whether a text without quotes is read back as text. */
export function isPlainText(text: string): boolean {
  return resolveScalar(text).tag === 'str' && !BASE_60.test(text);
}
