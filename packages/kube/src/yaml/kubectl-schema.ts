import yaml from 'js-yaml';

const merge = new yaml.Type('tag:yaml.org,2002:merge', {
  kind: 'scalar',
  resolve: (data: unknown) => data === '<<',
});

/**
 * A js-yaml schema with the semantics of kubectl. Timestamps, binary, sets and ordered maps are refused as unknown
 * tags.
 * @param resolveScalar returns the value of a plain scalar; parsing throws what it throws
 */
export function kubectlSchema(resolveScalar: (text: string) => unknown = resolvePlainScalar): yaml.Schema {
  const valueOf = (data: unknown): unknown => (typeof data === 'string' ? resolveScalar(data) : data);
  const tagged = (name: string, accepts: (value: unknown) => boolean): yaml.Type =>
    new yaml.Type(`tag:yaml.org,2002:${name}`, {
      kind: 'scalar',
      resolve: (data: unknown) => accepts(valueOf(data)),
      construct: valueOf,
    });
  // One implicit type resolves null, bool, int and float, so that each scalar is examined once
  // instead of four times.
  const plainScalar = new yaml.Type('tag:berth.dev,2026:plain-scalar', {
    kind: 'scalar',
    resolve: () => true,
    construct: resolveScalar,
  });
  return yaml.FAILSAFE_SCHEMA.extend({
    implicit: [merge, plainScalar],
    explicit: [
      tagged('null', (value) => value === null),
      tagged('bool', (value) => typeof value === 'boolean'),
      tagged('int', (value) => Number.isInteger(value)),
      tagged('float', (value) => typeof value === 'number'),
    ],
  });
}

/**
 * How kubectl interprets a plain (unquoted) YAML scalar: YAML 1.1 booleans, Go's integer prefixes, no dates. Measured
 * with `kubectl annotate --local`. No library default has the same result (js-yaml 4 differs in 8 of 24 recorded
 * scalars).
 */

/** A plain scalar that kubectl cannot convert to JSON (`.inf`, `.nan`), or that a JavaScript number cannot represent. */
export class UnrepresentableScalarError extends Error {
  readonly text: string;
  /** The nearest number in JavaScript; not finite for `.inf` and `.nan`. */
  readonly nearest: number;

  constructor(text: string, nearest: number, reason: string) {
    super(reason);
    this.text = text;
    this.nearest = nearest;
  }
}

const WORDS = new Map<string, boolean | null | number>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map(
    (word) => [word, true] as const,
  ),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map(
    (word) => [word, false] as const,
  ),
  ...['~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, Number.NaN] as const),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF', '-.inf', '-.Inf', '-.INF'].map(
    (word) => [word, Number.POSITIVE_INFINITY] as const,
  ),
]);
const MAX_WORD = 5;

const INTEGER = /^[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

/** The value of a plain scalar; the text itself if it is a string. */
export function resolvePlainScalar(text: string): string | number | boolean | null {
  const first = text.charCodeAt(0);
  if (text.length <= MAX_WORD) {
    const word = WORDS.get(text);
    if (typeof word === 'number') throw new UnrepresentableScalarError(text, word, 'JSON has no such number');
    if (word !== undefined) return word;
  }
  const mayBeNumber = (first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d || first === 0x2e;
  return mayBeNumber ? resolveNumber(text) : text;
}

function resolveNumber(text: string): string | number {
  const plain = text.includes('_') ? text.replaceAll('_', '') : text;
  if (INTEGER.test(plain)) {
    const value = integerValue(plain);
    if (Number.isSafeInteger(value)) return value;
    throw new UnrepresentableScalarError(
      text,
      value,
      'the integer is beyond ±9007199254740991 and would lose digits',
    );
  }
  if (!FLOAT.test(plain)) return text;
  const value = Number(plain);
  // Go treats an overflow as a string. Negative zero becomes 0, because kubectl converts YAML to
  // JSON.
  return Number.isFinite(value) ? value + 0 : text;
}

function integerValue(plain: string): number {
  const negative = plain.startsWith('-');
  const digits = negative || plain.startsWith('+') ? plain.slice(1) : plain;
  const magnitude = magnitudeOf(digits);
  return negative && magnitude !== 0 ? -magnitude : magnitude;
}

function magnitudeOf(digits: string): number {
  if (digits.length < 2 || !digits.startsWith('0')) return Number(digits);
  switch (digits[1]) {
    case 'x':
    case 'X':
    case 'b':
    case 'B':
    case 'o':
    case 'O':
      return Number(digits.toLowerCase());
    default:
      return Number.parseInt(digits, 8);
  }
}
