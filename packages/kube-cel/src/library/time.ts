import { parseRfc3339 } from '@berth/kube/model/rfc3339';
import { CelDuration, CelFailure, type CelResult, CelTimestamp } from '../value/cel-value.ts';
import { type CelOverload, overload } from '../value/overload.ts';

/**
 * Timestamps and durations: their text forms (RFC 3339, Go's notation), exact to the nanosecond, then their constructors
 * and accessors.
 */

const NANOS = 1_000_000_000n;
const NANOS_PER_MS = 1_000_000n;
const MIN_SECONDS = -62_135_596_800n;
const MAX_SECONDS = 253_402_300_799n;

export function parseTimestamp(text: string): CelTimestamp | CelFailure {
  const instant = parseRfc3339(text);
  if (instant === undefined)
    return new CelFailure(`timestamp: ${JSON.stringify(text)} is not in RFC 3339 format`);
  return checkedTimestamp(BigInt(instant.seconds) * NANOS + BigInt(instant.nanos));
}

export function checkedTimestamp(nanos: bigint): CelTimestamp | CelFailure {
  if (nanos < MIN_SECONDS * NANOS || nanos >= (MAX_SECONDS + 1n) * NANOS)
    return new CelFailure('timestamp out of range: years 0001 to 9999');
  return new CelTimestamp(nanos);
}

export function timestampOfSeconds(seconds: bigint): CelTimestamp | CelFailure {
  return checkedTimestamp(seconds * NANOS);
}

export function formatTimestamp(timestamp: CelTimestamp): string {
  const { ms, rest } = splitMs(timestamp.nanos);
  const text = new Date(Number(ms)).toISOString();
  const fraction = `${text.slice(20, 23)}${String(rest).padStart(6, '0')}`.replace(/0+$/, '');
  return `${text.slice(0, 19)}${fraction === '' ? '' : `.${fraction}`}Z`;
}

/** Whole milliseconds rounded down, and the nanoseconds left. */
export function splitMs(nanos: bigint): { ms: bigint; rest: bigint } {
  let ms = nanos / NANOS_PER_MS;
  let rest = nanos % NANOS_PER_MS;
  if (rest < 0n) {
    ms -= 1n;
    rest += NANOS_PER_MS;
  }
  return { ms, rest };
}

const UNIT_NANOS: Readonly<Record<string, bigint>> = {
  h: 3_600_000_000_000n,
  m: 60_000_000_000n,
  s: NANOS,
  ms: NANOS_PER_MS,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ns: 1n,
};
const MAX_DURATION = 9_223_372_036_854_775_807n;

/** `1h30m`, `-1.5s`, `0`. */
export function parseDuration(text: string): CelDuration | CelFailure {
  const invalid = new CelFailure(`invalid duration: ${JSON.stringify(text)}`);
  const sign = text.startsWith('-') ? -1n : 1n;
  const body = text.replace(/^[+-]/, '');
  if (body === '0') return new CelDuration(0n);
  const part = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y;
  let total = 0n;
  if (body === '') return invalid;
  while (part.lastIndex < body.length) {
    const match = part.exec(body);
    if (match === null) return invalid;
    const [, whole = '', fraction = '', unit = 's'] = match;
    if (whole === '' && fraction === '') return invalid;
    const nanos = UNIT_NANOS[unit] ?? NANOS;
    const digits = fraction.slice(0, 18);
    total += BigInt(whole === '' ? '0' : whole) * nanos;
    if (digits !== '') total += (BigInt(digits) * nanos) / 10n ** BigInt(digits.length);
    if (total > MAX_DURATION) return invalid;
  }
  return new CelDuration(sign * total);
}

/** Seconds with a fraction, e.g. `5400s`, `-1.5s`. */
export function formatDuration(duration: CelDuration): string {
  const negative = duration.nanos < 0n;
  const nanos = negative ? -duration.nanos : duration.nanos;
  const fraction = String(nanos % NANOS)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return `${negative ? '-' : ''}${nanos / NANOS}${fraction === '' ? '' : `.${fraction}`}s`;
}

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

const durationPart = (name: string, nanos: bigint, modulo?: bigint): CelOverload =>
  overload(`duration.${name}(): int`, (duration: CelDuration) => {
    const whole = duration.nanos / nanos;
    return modulo === undefined ? whole : whole % modulo;
  });

export const TIMES: readonly CelOverload[] = [
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
