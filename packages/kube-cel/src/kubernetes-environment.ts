import { CONVERSIONS, doubleText } from './library/conversions.ts';
import { FORMATS } from './library/formats.ts';
import { NETWORK } from './library/ips.ts';
import { LISTS } from './library/lists.ts';
import { OPERATORS } from './library/operators.ts';
import { QUANTITIES } from './library/quantities.ts';
import { REGEX } from './library/regex.ts';
import { SEMVERS } from './library/semvers.ts';
import { STRINGS } from './library/strings.ts';
import {
  formatDuration,
  formatTimestamp,
  parseDuration,
  parseTimestamp,
  splitMs,
  timestampOfSeconds,
} from './library/time.ts';
import { URLS } from './library/urls.ts';
import { traverseCost, costSize } from './value/cel-cost.ts';
import { CelEnvironment } from './value/cel-environment.ts';
import { celEquals } from './value/cel-equality.ts';
import { celMapGet, celMapKeys, isCelMap, celMapSize } from './value/cel-map.ts';
import {
  type CelResult,
  type CelValue,
  CelDouble,
  CelDuration,
  CelFailure,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  celTypeName,
  lift,
  CelOptional,
  OPTIONAL_NONE,
} from './value/cel-value.ts';
import { type CelOverload, overload } from './value/overload.ts';

const DIRECTIVE = /%(?:\.(\d+))?(.)/gsu;
const DEFAULT_PRECISION = 6;
const MAX_PRECISION = 100;

const STRING_FORMAT: readonly CelOverload[] = [
  overload('string.format(list<dyn>): string', format, traverseCost),
];

const ABSENT = new CelFailure('optional.none() dereference');

const OPTIONALS: readonly CelOverload[] = [
  overload('optional.of(T): optional<T>', (value: CelValue) => new CelOptional(value)),
  overload('optional.ofNonZeroValue(T): optional<T>', (value: CelValue) =>
    isZero(value) ? OPTIONAL_NONE : new CelOptional(value),
  ),
  overload('optional.none(): optional<dyn>', () => OPTIONAL_NONE),
  overload('optional<T>.hasValue(): bool', (optional: CelOptional) => optional.value !== undefined),
  overload(
    'optional<T>.value(): T',
    (optional: CelOptional) => optional.value ?? (optional.value === undefined ? ABSENT : null),
  ),
  overload('list<T>.first(): optional<T>', (list: readonly unknown[]) => at(list, 0)),
  overload('list<T>.last(): optional<T>', (list: readonly unknown[]) => at(list, list.length - 1)),
  overload('optional.unwrap(list<optional<T>>): list<T>', unwrap),
  overload('list<optional<T>>.unwrapOpt(): list<T>', unwrap),
];

const PARTS: readonly (readonly [string, (date: Date) => number])[] = [
  ['getFullYear', (date) => date.getUTCFullYear()],
  ['getMonth', (date) => date.getUTCMonth()],
  ['getDate', (date) => date.getUTCDate()],
  ['getDayOfMonth', (date) => date.getUTCDate() - 1],
  ['getDayOfWeek', (date) => date.getUTCDay()],
  ['getDayOfYear', dayOfYear],
  ['getHours', (date) => date.getUTCHours()],
  ['getMinutes', (date) => date.getUTCMinutes()],
  ['getSeconds', (date) => date.getUTCSeconds()],
  ['getMilliseconds', (date) => date.getUTCMilliseconds()],
];

const durationPart = (name: string, nanos: bigint, modulo?: bigint): CelOverload =>
  overload(`duration.${name}(): int`, (duration: CelDuration) => {
    const whole = duration.nanos / nanos;
    return modulo === undefined ? whole : whole % modulo;
  });

const TIMES: readonly CelOverload[] = [
  overload('timestamp(string): timestamp', parseTimestamp),
  overload('timestamp(int): timestamp', timestampOfSeconds),
  overload('timestamp(timestamp): timestamp', (value: CelTimestamp) => value),
  overload('duration(string): duration', parseDuration),
  overload('duration(int): duration', (nanos: bigint) => new CelDuration(nanos)),
  overload('duration(duration): duration', (value: CelDuration) => value),
  ...timestampParts(),
  durationPart('getHours', 3_600_000_000_000n),
  durationPart('getMinutes', 60_000_000_000n),
  durationPart('getSeconds', 1_000_000_000n),
  durationPart('getMilliseconds', 1_000_000n, 1000n),
];

const has = (list: List, item: unknown): boolean => list.some((one) => celEquals(lift(one), lift(item)));
const contains = (list: List, part: List): boolean => part.every((item) => has(list, item));

/** Cost of comparing each item of one list with each item of the other. */
const pairCost = ([one, other]: readonly CelValue[]): number => costSize(one) * costSize(other) + 1;
const bothWaysCost = (args: readonly CelValue[]): number => 2 * (pairCost(args) - 1) + 1;

const SETS: readonly CelOverload[] = [
  overload('sets.contains(list<T>, list<T>): bool', contains, pairCost),
  overload(
    'sets.equivalent(list<T>, list<T>): bool',
    (one: List, other: List) => contains(one, other) && contains(other, one),
    bothWaysCost,
  ),
  overload(
    'sets.intersects(list<T>, list<T>): bool',
    (one: List, other: List) => one.some((item) => has(other, item)),
    pairCost,
  ),
];

/**
 * The CEL environment of the Kubernetes API server, without variables. Each use adds its own
 * variables and functions.
 */
export const KUBERNETES_CEL: CelEnvironment = CelEnvironment.of(
  OPERATORS,
  CONVERSIONS,
  TIMES,
  OPTIONALS,
  STRINGS,
  STRING_FORMAT,
  LISTS,
  SETS,
  REGEX,
  URLS,
  QUANTITIES,
  NETWORK,
  FORMATS,
  SEMVERS,
);

/** `"%s is %.2f".format([name, x])`: verbs s d f e b x X o and %%. */

function format(template: string, args: readonly unknown[]): CelResult {
  let used = 0;
  let failure: CelFailure | undefined;
  const text = template.replace(DIRECTIVE, (_all, precision: string | undefined, verb: string) => {
    if (verb === '%') return '%';
    if (used >= args.length) {
      failure ??= new CelFailure(`index ${used} out of range`);
      return '';
    }
    const part = directive(verb, lift(args[used++]), precision);
    if (part instanceof CelFailure) failure ??= part;
    return typeof part === 'string' ? part : '';
  });
  if (failure !== undefined) return failure;
  return /%$/.test(template.replaceAll('%%', '')) ? new CelFailure('unexpected end of format string') : text;
}

function directive(verb: string, value: CelValue, precision: string | undefined): string | CelFailure {
  switch (verb) {
    case 's':
      return text(value);
    case 'd':
      return integer(value, 10) ?? wrongType(verb, value);
    case 'o':
      return integer(value, 8) ?? wrongType(verb, value);
    case 'b':
      return typeof value === 'boolean'
        ? String(Number(value))
        : (integer(value, 2) ?? wrongType(verb, value));
    case 'x':
    case 'X': {
      const digits = hexadecimal(value);
      if (digits === undefined) return wrongType(verb, value);
      return verb === 'X' ? digits.toUpperCase() : digits;
    }
    case 'f':
    case 'e':
      return real(verb, value, precision);
    default:
      return new CelFailure(`unrecognized formatting clause "${verb}"`);
  }
}

function wrongType(verb: string, value: CelValue): CelFailure {
  return new CelFailure(
    `could not convert argument of type ${celTypeName(value)} to formatting clause "${verb}"`,
  );
}

function integer(value: CelValue, base: number): string | undefined {
  if (typeof value === 'bigint') return value.toString(base);
  if (value instanceof CelUint) return value.value.toString(base);
  if (base === 10 && value instanceof CelDouble && !Number.isFinite(value.value))
    return doubleText(value.value);
  return undefined;
}

function hexadecimal(value: CelValue): string | undefined {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  if (bytes instanceof Uint8Array)
    return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return integer(value, 16);
}

function real(verb: 'e' | 'f', value: CelValue, precision: string | undefined): string | CelFailure {
  const number =
    value instanceof CelDouble
      ? value.value
      : typeof value === 'bigint'
        ? Number(value)
        : value instanceof CelUint
          ? Number(value.value)
          : undefined;
  if (number === undefined) return wrongType(verb, value);
  if (!Number.isFinite(number)) return Number.isNaN(number) ? 'NaN' : number > 0 ? 'Infinity' : '-Infinity';
  const digits = precision === undefined ? DEFAULT_PRECISION : Number(precision);
  if (digits > MAX_PRECISION) return new CelFailure(`precision ${digits} is too large`);
  if (verb === 'f') return number.toFixed(digits);
  return number.toExponential(digits).replace(/e([+-])(\d)$/, 'e$10$2');
}

/** How `%s` prints a value, also inside lists and maps. */
function text(value: CelValue): string | CelFailure {
  if (typeof value === 'string') return value;
  if (value === null) return 'null';
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value instanceof CelDouble)
    return doubleText(value.value).replace('+Inf', 'Infinity').replace('-Inf', '-Infinity');
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return formatDuration(value);
  if (value instanceof CelTypeValue) return value.name;
  if (value instanceof Uint8Array) return new TextDecoder('utf-8').decode(value);
  if (Array.isArray(value)) return listText(value);
  return isCelMap(value) ? mapText(value) : wrongType('s', value);
}

function listText(list: readonly unknown[]): string | CelFailure {
  const parts: string[] = [];
  for (const item of list) {
    const part = text(lift(item));
    if (part instanceof CelFailure) return part;
    parts.push(part);
  }
  return `[${parts.join(', ')}]`;
}

function mapText(map: CelValue): string | CelFailure {
  const parts: string[] = [];
  for (const key of celMapKeys(map)) {
    const value = text(celMapGet(map, key) ?? null);
    if (value instanceof CelFailure) return value;
    parts.push(`${String(key)}: ${value}`);
  }
  return `{${parts.toSorted().join(', ')}}`;
}

/** Optional values. `or`, `orValue`, `optMap` and `optFlatMap` are macros: build-optional-macro.ts. */

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === '' || value === 0n) return true;
  if (value instanceof CelDouble) return value.value === 0;
  if (value instanceof CelUint) return value.value === 0n;
  if (value instanceof CelTimestamp || value instanceof CelDuration) return value.nanos === 0n;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0;
  return isCelMap(value) && celMapSize(value) === 0;
}

function at(list: readonly unknown[], index: number): CelOptional {
  return list.length === 0 ? OPTIONAL_NONE : new CelOptional(lift(list[index]));
}

/** The values of the optionals that have one. */
function unwrap(list: readonly unknown[]): CelResult {
  const values: CelValue[] = [];
  for (const item of list) {
    const value = lift(item);
    if (!(value instanceof CelOptional))
      return new CelFailure(`no such overload: optional.unwrap on a list with ${celTypeName(value)}`);
    if (value.value !== undefined) values.push(value.value);
  }
  return values;
}

/** Constructors and accessors of timestamps and durations. */

function dayOfYear(date: Date): number {
  const newYear = Date.UTC(date.getUTCFullYear(), 0, 1);
  return Math.floor((date.getTime() - newYear) / 86_400_000);
}

/** A Date whose UTC fields read like the wall clock of the zone: an IANA name or `+02:00`. */
function inZone(timestamp: CelTimestamp, zone: string): Date | CelFailure {
  const ms = Number(splitMs(timestamp.nanos).ms);
  const offset = /^([+-])?(\d\d):(\d\d)$/.exec(zone);
  if (offset !== null) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3]);
    return new Date(ms + (offset[1] === '-' ? -minutes : minutes) * 60_000);
  }
  try {
    const format = new Intl.DateTimeFormat('en-US-u-ca-iso8601', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    const part = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const wall = new Date(0);
    wall.setUTCFullYear(part['year'] ?? 0, (part['month'] ?? 1) - 1, part['day'] ?? 1);
    wall.setUTCHours(
      part['hour'] ?? 0,
      part['minute'] ?? 0,
      part['second'] ?? 0,
      ((ms % 1000) + 1000) % 1000,
    );
    return wall;
  } catch {
    return new CelFailure(`unknown time zone ${zone}`);
  }
}

function timestampParts(): CelOverload[] {
  return PARTS.flatMap(([name, read]) => [
    overload(`timestamp.${name}(): int`, (timestamp: CelTimestamp) =>
      BigInt(read(new Date(Number(splitMs(timestamp.nanos).ms)))),
    ),
    overload(`timestamp.${name}(string): int`, (timestamp: CelTimestamp, zone: string): CelResult => {
      const date = inZone(timestamp, zone);
      return date instanceof CelFailure ? date : BigInt(read(date));
    }),
  ]);
}

/** Lists as sets. Source: cel-go `ext/sets.go`. */

type List = readonly unknown[];
