import { parseRfc3339 } from '@berth/kube/model/rfc3339';
import { CelDuration, CelFailure, CelTimestamp } from '../value/cel-value.ts';

/** Text forms of timestamps (RFC 3339) and durations (Go's notation), exact to the nanosecond. */

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
