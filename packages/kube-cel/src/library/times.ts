import type { CelResult, CelTimestamp } from '../value/cel-value.ts';
import { CelDuration, CelFailure } from '../value/cel-value.ts';
import type { CelOverload } from '../value/overload.ts';
import { overload } from '../value/overload.ts';
import { parseDuration, parseTimestamp, splitMs, timestampOfSeconds } from './time.ts';

/** Constructors and accessors of timestamps and durations. */

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
