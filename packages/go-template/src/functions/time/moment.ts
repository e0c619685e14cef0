/** A time.Time: seconds since 1970, and the zone in which it is shown. */
export interface Moment {
  readonly seconds: bigint;
  readonly nanoseconds: number;
  /** Seconds east of Greenwich. */
  readonly offset: number;
  /** The name of the zone, such as UTC or CEST; empty if the zone has only an offset. */
  readonly zone: string;
}

/** The name for a zone whose name JavaScript does not know. */
export const UNKNOWN_ZONE = '?';

/** The fields of a moment on the clock of its zone. */
export interface ClockFields {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  /** 1 to 366. */
  readonly yearDay: number;
}

const DAY = 86_400n;
/** Days from 1 March of the year 0 to 1 January 1970. */
const DAYS_TO_1970 = 719_468n;
const DAYS_OF_400_YEARS = 146_097n;

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}

/** Days since 1970 of a date of the Gregorian calendar. */
export function daysOf(year: number, month: number, day: number): bigint {
  const shifted = month > 2 ? year : year - 1;
  const era = floorDivide(BigInt(shifted), 400n);
  const ofEra = shifted - Number(era) * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = ofEra * 365 + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + dayOfYear;
  return era * DAYS_OF_400_YEARS + BigInt(dayOfEra) - DAYS_TO_1970;
}

/** Go counts seconds from a year that is before every date, in 64 bits that wrap around. */
const SECONDS_BEFORE_1970 = 62_135_596_800n + (292_277_022_400n * 146_097n * DAY) / 400n + 306n * DAY;

export function clockFields({ seconds, offset }: Moment): ClockFields {
  const local = BigInt.asUintN(64, seconds + BigInt(offset) + SECONDS_BEFORE_1970) - SECONDS_BEFORE_1970;
  const days = floorDivide(local, DAY);
  const rest = Number(local - days * DAY);
  const { year, month, day } = dateOf(days);
  return {
    year,
    month,
    day,
    hour: Math.floor(rest / 3600),
    minute: Math.floor(rest / 60) % 60,
    second: rest % 60,
    weekday: Number((((days + 4n) % 7n) + 7n) % 7n),
    yearDay: Number(days - daysOf(year, 1, 1)) + 1,
  };
}

function dateOf(days: bigint): Pick<ClockFields, 'year' | 'month' | 'day'> {
  const shifted = days + DAYS_TO_1970;
  const era = floorDivide(shifted, DAYS_OF_400_YEARS);
  const dayOfEra = Number(shifted - era * DAYS_OF_400_YEARS);
  const ofEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * ofEra + Math.floor(ofEra / 4) - Math.floor(ofEra / 100));
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  return {
    year: ofEra + Number(era) * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1,
  };
}

export function momentOf(
  fields: Pick<ClockFields, 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second'>,
  rest: Omit<Moment, 'seconds'>,
): Moment {
  const clock = BigInt(fields.hour * 3600 + fields.minute * 60 + fields.second);
  return {
    ...rest,
    seconds: daysOf(fields.year, fields.month, fields.day) * DAY + clock - BigInt(rest.offset),
  };
}

/** Go's zero time: 1 January of the year 1. */
export const ZERO_TIME: Moment = { seconds: -62_135_596_800n, nanoseconds: 0, offset: 0, zone: 'UTC' };

export function daysOfMonth(year: number, month: number): number {
  return Number(daysOf(month === 12 ? year + 1 : year, (month % 12) + 1, 1) - daysOf(year, month, 1));
}

const BILLION = 1_000_000_000n;

/** The moment that is this many nanoseconds later. */
export function addNanoseconds(moment: Moment, nanoseconds: bigint): Moment {
  const all = BigInt(moment.nanoseconds) + nanoseconds;
  const carried = floorDivide(all, BILLION);
  return { ...moment, seconds: moment.seconds + carried, nanoseconds: Number(all - carried * BILLION) };
}
