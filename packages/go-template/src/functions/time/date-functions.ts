import { decode } from '../../text/bytes.ts';
import { parseInt64 } from '../../text/parse-number.ts';
import { quote } from '../../text/quote.ts';
import { GoError, Refusal } from '../../value/go-error.ts';
import { func, type FuncMap } from '../../value/go-func.ts';
import {
  type Any,
  type GoType,
  type Method,
  BOOL,
  INT,
  INT64,
  INTERFACE,
  isString,
  STRING,
  wrap64,
} from '../../value/go-type.ts';
import { spend } from '../../value/work.ts';
import {
  type ClockFields,
  type Moment,
  addNanoseconds,
  clockFields,
  ZERO_TIME,
  UNKNOWN_ZONE,
} from './moment.ts';
import { parseTime, DAYS, MONTHS, layoutParts } from './parse-time.ts';

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

const UTC = { offset: 0, zone: 'UTC' } as const;

/** Each locale knows the names of zones that its readers use. */
const LOCALES = ['en-US', 'en-GB', 'en-AU', 'en-IN', 'en-ZA', 'en-NZ', 'en-JP'];

/** Nanoseconds of each unit of a Go duration. */
const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  '\xc2\xb5s': 1000n,
  '\xce\xbcs': 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const LONGEST = (1n << 63n) - 1n;

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

/** time.Time's Format. */
function formatTime(moment: Moment, layout: string): string {
  const fields = clockFields(moment);
  const two = (value: number): string => String(value).padStart(2, '0');
  const twelve = fields.hour % 12 === 0 ? 12 : fields.hour % 12;
  const month = MONTHS[fields.month - 1] ?? '';
  const day = DAYS[fields.weekday] ?? '';
  const simple: Readonly<Record<string, () => string>> = {
    January: () => month,
    Jan: () => month.slice(0, 3),
    1: () => String(fields.month),
    '01': () => two(fields.month),
    Monday: () => day,
    Mon: () => day.slice(0, 3),
    2: () => String(fields.day),
    _2: () => String(fields.day).padStart(2),
    '02': () => two(fields.day),
    __2: () => String(fields.yearDay).padStart(3),
    '002': () => String(fields.yearDay).padStart(3, '0'),
    15: () => two(fields.hour),
    3: () => String(twelve),
    '03': () => two(twelve),
    4: () => String(fields.minute),
    '04': () => two(fields.minute),
    5: () => String(fields.second),
    '05': () => two(fields.second),
    2006: () => longYear(fields.year),
    '06': () => two(Math.max(fields.year, 0) % 100),
    PM: () => (fields.hour >= 12 ? 'PM' : 'AM'),
    pm: () => (fields.hour >= 12 ? 'pm' : 'am'),
    MST: () => zoneName(moment),
  };
  return layoutParts(layout)
    .map(({ text, isTime }) => {
      if (!isTime) return text;
      const write = Object.hasOwn(simple, text) ? simple[text] : undefined;
      if (write !== undefined) return write();
      return /^[.,]/.test(text) ? fraction(moment.nanoseconds, text) : offsetText(moment.offset, text);
    })
    .join('');
}

function longYear(year: number): string {
  return year < 0 ? `-${String(-year).padStart(4, '0')}` : String(year).padStart(4, '0');
}

function fraction(nanoseconds: number, part: string): string {
  const digits = String(nanoseconds)
    .padStart(9, '0')
    .slice(0, part.length - 1);
  if (part.includes('0')) return part.charAt(0) + digits;
  const trimmed = digits.replace(/0+$/, '');
  return trimmed === '' ? '' : part.charAt(0) + trimmed;
}

/** An offset such as `-0700`. If the part starts with Z, an offset of zero is written as Z. */
function offsetText(offset: number, part: string): string {
  if (part.startsWith('Z') && offset === 0) return 'Z';
  const minutes = Math.trunc(Math.abs(offset) / 60);
  const colon = part.includes(':') ? ':' : '';
  const two = (value: number): string => String(value).padStart(2, '0');
  let text = `${Math.trunc(offset / 60) < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}`;
  if (part.length > 3) text += colon + two(minutes % 60);
  if (part.length > 6) text += colon + two(Math.abs(offset) % 60);
  return text;
}

function zoneName({ zone, offset }: Moment): string {
  if (zone === UNKNOWN_ZONE)
    throw new Refusal(
      'Berth does not know the name of this time zone: use its offset in the layout, such as -0700',
    );
  if (zone !== '') return zone;
  const minutes = Math.trunc(Math.abs(offset) / 60);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${two(minutes % 60)}`;
}

/** time.Time's String. */
function timeText(moment: Moment): string {
  return formatTime(moment, '2006-01-02 15:04:05.999999999 -0700 MST');
}

/** A time as in JSON: RFC 3339. */
function rfc3339(moment: Moment): string {
  return formatTime(moment, '2006-01-02T15:04:05.999999999Z07:00');
}

/**
 * A moment in a zone. If Go does not know the zone, the moment is in UTC. The zone Local of Argo CD
 * is UTC.
 */
function inZone(moment: Moment, name: string): Moment {
  return { ...moment, ...(['', 'UTC', 'Local'].includes(name) ? UTC : zoneAt(moment, decode(name))) };
}

function zoneAt(moment: Moment, name: string): Pick<Moment, 'offset' | 'zone'> {
  // Only names of the zone database are valid. JavaScript also accepts offsets and any letter case.
  if (!/^[A-Z]/.test(name) || !/^[\w+\-/]+$/.test(name)) return UTC;
  // Formatting a date in a zone is slow in JavaScript.
  spend(2000);
  const at = new Date(Number(moment.seconds) * 1000);
  if (Number.isNaN(at.getTime())) return UTC;
  try {
    const offset = offsetAt(at, name);
    return { offset, zone: abbreviation(at, name, offset) };
  } catch {
    return UTC;
  }
}

function offsetAt(at: Date, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  const text = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = '0', minutes = '0', seconds = '0'] =
    /GMT([-+])(\d+):(\d+)(?::(\d+))?/.exec(text) ?? [];
  const offset = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return sign === '-' ? -offset : offset;
}

/**
 * The name of the zone at that time, such as CEST, or `UNKNOWN_ZONE` if JavaScript knows only the
 * offset.
 */
function abbreviation(at: Date, timeZone: string, offset: number): string {
  if (offset === 0 && /^(Etc\/)?(UTC|UCT|Zulu|Universal)$/.test(timeZone)) return 'UTC';
  // Before time zones existed, each city had its own time.
  if (offset % 60 !== 0) return 'LMT';
  for (const locale of LOCALES) {
    const format = new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'short' });
    const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    if (/^[A-Z]{3,5}$/.test(name)) return name;
  }
  return UNKNOWN_ZONE;
}

/**
 * time.ParseDuration, in nanoseconds.
 * @throws GoError with Go's text
 */
function parseDuration(text: string): bigint {
  const invalid = (): never => {
    throw new GoError(`time: invalid duration ${quote(text)}`);
  };
  const isNegative = text.startsWith('-');
  let rest = text.replace(/^[-+]/, '');
  if (rest === '0') return 0n;
  if (rest === '') invalid();
  let total = 0n;
  while (rest !== '') {
    const [, whole = '', fraction = ''] = /^(\d*)(?:\.(\d*))?/.exec(rest) ?? [];
    const number = /^(\d*\.\d+|\d+\.?\d*)/.exec(rest)?.[0];
    if (number === undefined) return invalid();
    rest = rest.slice(number.length);
    const unit = /^[^.\d]*/.exec(rest)?.[0] ?? '';
    if (unit === '') throw new GoError(`time: missing unit in duration ${quote(text)}`);
    const size = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
    if (size === undefined) throw new GoError(`time: unknown unit ${quote(unit)} in duration ${quote(text)}`);
    rest = rest.slice(unit.length);
    const digits = fraction.slice(0, 18);
    total += BigInt(whole === '' ? '0' : whole) * size;
    if (digits !== '') total += (BigInt(digits) * size) / 10n ** BigInt(digits.length);
    if (total > LONGEST + 1n) invalid();
  }
  if (!isNegative && total > LONGEST) invalid();
  return isNegative ? -total : total;
}

/** time.Duration's String: 1h15m30.918s. */
function durationText(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (size < 1_000_000_000n) return sign + small(size);
  const seconds = size / 1_000_000_000n;
  const [hours, minutes] = [seconds / 3600n, (seconds / 60n) % 60n];
  let text = `${decimal(size % 60_000_000_000n, 9)}s`;
  if (seconds >= 60n) text = `${minutes}m${text}`;
  return sign + (hours > 0n ? `${hours}h${text}` : text);
}

function small(size: bigint): string {
  if (size < 1000n) return `${size}ns`;
  return size < 1_000_000n ? `${decimal(size, 3)}\xc2\xb5s` : `${decimal(size, 6)}ms`;
}

/** A whole number with its last `places` digits after a decimal point, without trailing zeros. */
function decimal(value: bigint, places: number): string {
  const digits = String(value).padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  return digits.slice(0, -places) + (fraction === '' ? '' : `.${fraction}`);
}

/** sprig's durationRound: only the largest unit. */
function roundedDuration(nanoseconds: bigint): string {
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const hour = 3_600_000_000_000n;
  const units: readonly (readonly [string, bigint])[] = [
    ['y', hour * 24n * 365n],
    ['mo', hour * 24n * 30n],
    ['d', hour * 24n],
    ['h', hour],
    ['m', hour / 60n],
    ['s', hour / 3600n],
  ];
  const unit = units.find(([, length]) => size > length);
  return unit === undefined ? '0s' : `${size / unit[1]}${unit[0]}`;
}
