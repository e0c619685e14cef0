import { parseInt64 } from '../../text/parse-number.ts';
import { GoError, Refusal } from '../../value/go-error.ts';
import type { FuncMap } from '../../value/go-func.ts';
import { func } from '../../value/go-func.ts';
import type { Any, GoType, Method } from '../../value/go-type.ts';
import { BOOL, INT, INT64, INTERFACE, isString, STRING } from '../../value/go-type.ts';
import { wrap64 } from '../../value/wrap-int.ts';
import { durationText, parseDuration, roundedDuration } from './duration.ts';
import { formatTime, rfc3339, timeText } from './format-time.ts';
import { DAYS, MONTHS } from './layout.ts';
import type { ClockFields, Moment } from './moment.ts';
import { addNanoseconds, clockFields, ZERO_TIME } from './moment.ts';
import { parseTime } from './parse-time.ts';
import { inZone } from './time-zone.ts';

const MONTH: GoType<bigint> = {
  kind: 'int',
  name: 'time.Month',
  text: (month: bigint) => MONTHS[Number(month) - 1] ?? '',
};
const WEEKDAY: GoType<bigint> = {
  kind: 'int',
  name: 'time.Weekday',
  text: (day: bigint) => DAYS[Number(day)] ?? '',
};

const TIME: GoType<Moment> = {
  kind: 'struct',
  name: 'time.Time',
  text: timeText,
  json: rfc3339,
  hidden: new Set(['wall', 'ext', 'loc']),
  get methods(): ReadonlyMap<string, Method> {
    return METHODS;
  },
};

function method<R>(result: GoType<R>, call: (moment: Moment) => R): Method {
  return { params: [], result, call };
}

function field(name: keyof ClockFields, type: GoType<bigint> = INT): Method {
  return method(type, (moment) => BigInt(clockFields(moment)[name]));
}

const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['Year', field('year')],
  ['Month', field('month', MONTH)],
  ['Day', field('day')],
  ['Hour', field('hour')],
  ['Minute', field('minute')],
  ['Second', field('second')],
  ['YearDay', field('yearDay')],
  ['Weekday', field('weekday', WEEKDAY)],
  ['Nanosecond', method(INT, ({ nanoseconds }) => BigInt(nanoseconds))],
  ['Unix', method(INT64, ({ seconds }) => seconds)],
  [
    'UnixMilli',
    method(INT64, ({ seconds, nanoseconds }) => seconds * 1000n + BigInt(Math.floor(nanoseconds / 1e6))),
  ],
  ['IsZero', method(BOOL, ({ seconds, nanoseconds }) => seconds === ZERO_TIME.seconds && nanoseconds === 0)],
  ['UTC', method(TIME, (moment) => inZone(moment, 'UTC'))],
  ['Local', method(TIME, (moment) => inZone(moment, 'Local'))],
  ['String', method(STRING, timeText)],
  ['Format', { params: [STRING], result: STRING, call: formatTime }],
]);

function refuseCurrentTime(): never {
  throw new Refusal(
    'Berth does not render the current time: sprig uses it for a date that is neither a time nor an integer',
  );
}

/**
 * Reads a time, or an integer as seconds since 1970. For every other value, including a number from
 * JSON, sprig uses the current time.
 */
function momentFrom(value: Any): Moment {
  if (value?.type === TIME) return value.data as Moment;
  if (value?.type === INT64 || value?.type === INT)
    return { seconds: value.data as bigint, nanoseconds: 0, offset: 0, zone: 'UTC' };
  return refuseCurrentTime();
}

function dateInZone(layout: string, date: Any, zone: string): string {
  return formatTime(inZone(momentFrom(date), zone), layout);
}

const ISO = '2006-01-02';

function unlessError<T>(value: () => T, other: T): T {
  try {
    return value();
  } catch (error) {
    if (error instanceof GoError && !(error instanceof Refusal)) return other;
    throw error;
  }
}

function modified(duration: string, moment: Moment): Moment {
  return addNanoseconds(moment, parseDuration(duration));
}

function duration(value: Any): string {
  let seconds = 0n;
  if (value?.type === INT64) seconds = value.data as bigint;
  if (isString(value)) {
    const number = parseInt64(value.data, 10);
    if (typeof number === 'bigint') seconds = number;
    else if (number === 'value out of range')
      seconds = value.data.startsWith('-') ? -(1n << 63n) : (1n << 63n) - 1n;
  }
  return durationText(wrap64(seconds * 1_000_000_000n));
}

function durationRound(value: Any): string {
  if (value?.type === TIME) return refuseCurrentTime();
  if (value?.type === INT64) return roundedDuration(value.data as bigint);
  return isString(value) ? roundedDuration(unlessError(() => parseDuration(value.data), 0n)) : '0s';
}

const inNamedZone = func([STRING, INTERFACE, STRING], STRING, dateInZone);
const modify = func([STRING, TIME], TIME, (text, moment) =>
  unlessError(() => modified(text, moment), moment),
);
const mustModify = func([STRING, TIME], TIME, modified);

/** The functions of sprig for dates (date.go), for times that come from the template. */
export const DATE_FUNCTIONS: FuncMap = new Map([
  ['date', func([STRING, INTERFACE], STRING, (layout, date) => dateInZone(layout, date, 'Local'))],
  ['date_in_zone', inNamedZone],
  ['dateInZone', inNamedZone],
  ['htmlDate', func([INTERFACE], STRING, (date) => dateInZone(ISO, date, 'Local'))],
  ['htmlDateInZone', func([INTERFACE, STRING], STRING, (date, zone) => dateInZone(ISO, date, zone))],
  ['date_modify', modify],
  ['dateModify', modify],
  ['must_date_modify', mustModify],
  ['mustDateModify', mustModify],
  [
    'toDate',
    func([STRING, STRING], TIME, (layout, text) => unlessError(() => parseTime(layout, text), ZERO_TIME)),
  ],
  ['mustToDate', func([STRING, STRING], TIME, parseTime)],
  ['unixEpoch', func([TIME], STRING, ({ seconds }) => String(seconds))],
  ['duration', func([INTERFACE], STRING, duration)],
  ['durationRound', func([INTERFACE], STRING, durationRound)],
]);
