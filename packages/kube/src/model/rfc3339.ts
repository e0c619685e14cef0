/** Instants with Go's and Kubernetes' precision: a Date keeps milliseconds only, so seconds and nanoseconds stay apart. */
export interface Instant {
  /** Whole seconds since the epoch, rounded towards the past. */
  readonly seconds: number;
  /** 0..999,999,999 */
  readonly nanos: number;
}

const PATTERN = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:Z|([+-])(\d{2}):(\d{2}))$/;

/**
 * Reads an RFC 3339 time as Go's `time.Parse(time.RFC3339, …)` does: upper-case T and Z, no leap
 * second, any number of fraction digits (those beyond nanoseconds are cut off), offsets up to
 * ±24:60. Undefined for an invalid time.
 */
export function parseRfc3339(text: string): Instant | undefined {
  const match = PATTERN.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const offsetSeconds = parseOffset(match[8], match[9], match[10]);
  if (offsetSeconds === undefined) return undefined;
  return {
    seconds: epochDay(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offsetSeconds,
    nanos: Number((match[7] ?? '').slice(0, 9).padEnd(9, '0')),
  };
}

/** As metav1.Time is written: UTC, whole seconds, fractions cut off. */
export function formatRfc3339(instant: Instant): string {
  return `${dateTime(instant)}Z`;
}

/** As metav1.MicroTime is written: UTC, six digits of a fraction, the rest cut off. */
export function formatMicroTime(instant: Instant): string {
  return `${dateTime(instant)}.${String(Math.floor(instant.nanos / 1000)).padStart(6, '0')}Z`;
}

/** Negative, 0 or positive like every comparison function. */
export function compareInstants(left: Instant, right: Instant): number {
  return left.seconds === right.seconds ? left.nanos - right.nanos : left.seconds - right.seconds;
}

export function addSeconds(instant: Instant, seconds: number): Instant {
  return { seconds: instant.seconds + seconds, nanos: instant.nanos };
}

export function instantFromEpochMs(epochMs: number): Instant {
  const seconds = Math.floor(epochMs / 1000);
  return { seconds, nanos: Math.floor((epochMs - seconds * 1000) * 1e6) };
}

/** Milliseconds since the epoch; nanoseconds become a fraction. */
export function epochMsOf(instant: Instant): number {
  return instant.seconds * 1000 + instant.nanos / 1e6;
}

function parseOffset(sign: string | undefined, hours: string | undefined, minutes: string | undefined) {
  if (sign === undefined) return 0;
  const [hour, minute] = [Number(hours), Number(minutes)];
  // Go lets 24 hours and 60 minutes pass, as some people write them.
  if (hour > 24 || minute > 60) return undefined;
  return (sign === '-' ? -1 : 1) * (hour * 3600 + minute * 60);
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** Days since 1970-01-01. Not Date.UTC alone: it takes the years 0 to 99 for 1900 to 1999. */
function epochDay(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month - 1, day) / 86_400_000;
}

function dateTime(instant: Instant): string {
  const iso = new Date(instant.seconds * 1000).toISOString();
  return iso.slice(0, iso.indexOf('.'));
}
