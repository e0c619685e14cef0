import { quote } from '../../text/quote.ts';
import { GoError } from '../../value/go-error.ts';
import { daysOf, daysOfMonth, type Moment, momentOf } from './moment.ts';

export const DAYS: readonly string[] = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
];

/** The fields that were read from a text. */
interface Parsed {
  year: number;
  month: number;
  day: number;
  yearDay: number;
  hour: number;
  minute: number;
  second: number;
  nanoseconds: number;
  isPm: boolean;
  isAm: boolean;
  offset: number | undefined;
  zone: string;
}

/**
 * time.ParseInLocation in UTC, the zone in which Argo CD runs.
 * @throws GoError with the text of Go
 */
export function parseTime(layout: string, value: string): Moment {
  return new TimeReader(layout, value).moment();
}

const OUT_OF_RANGE = 'out of range';

class TimeReader {
  readonly #layout: string;
  readonly #value: string;
  #rest: string;
  #range = '';
  readonly #parsed: Parsed = {
    year: 0,
    month: -1,
    day: -1,
    yearDay: -1,
    hour: 0,
    minute: 0,
    second: 0,
    nanoseconds: 0,
    isPm: false,
    isAm: false,
    offset: undefined,
    zone: '',
  };

  constructor(layout: string, value: string) {
    this.#layout = layout;
    this.#value = value;
    this.#rest = value;
  }

  #fail(message: string): never {
    throw new GoError(`parsing time ${quote(this.#value)}${message}`);
  }

  #mismatch(part: string, rest = this.#rest): never {
    return this.#fail(` as ${quote(this.#layout)}: cannot parse ${quote(rest)} as ${quote(part)}`);
  }

  moment(): Moment {
    const parts = layoutParts(this.#layout);
    for (const [index, { text, isTime }] of parts.entries()) {
      if (!isTime) this.#literal(text);
      else {
        const before = this.#rest;
        this.#part(text, parts[index + 1]?.text);
        if (this.#range !== '') this.#fail(`: ${this.#range} ${OUT_OF_RANGE}`);
        if (before === this.#rest && !/^[.,]9/.test(text)) this.#mismatch(text, before);
      }
    }
    if (this.#rest !== '') this.#fail(`: extra text: ${quote(this.#rest)}`);
    return this.#complete();
  }

  /** Reads the text between two parts. A run of spaces matches any number of spaces. */
  #literal(text: string): void {
    let rest = this.#rest;
    for (let at = 0; at < text.length; ) {
      if (text[at] === ' ') {
        if (rest !== '' && rest[0] !== ' ') this.#mismatch(text, this.#rest);
        while (text[at] === ' ') at++;
        rest = rest.replace(/^ +/, '');
        continue;
      }
      if (rest === '' || rest[0] !== text[at]) this.#mismatch(text, this.#rest);
      at++;
      rest = rest.slice(1);
    }
    this.#rest = rest;
  }

  /** Reads digits from the front. */
  #number(part: string, pattern: RegExp): number {
    const digits = pattern.exec(this.#rest)?.[0];
    if (digits === undefined) return this.#mismatch(part);
    this.#rest = this.#rest.slice(digits.length);
    return Number(digits);
  }

  #name(part: string, names: readonly string[], length?: number): number {
    const lower = this.#rest.toLowerCase();
    const index = names.findIndex((name) =>
      lower.startsWith((length === undefined ? name : name.slice(0, length)).toLowerCase()),
    );
    if (index < 0) return this.#mismatch(part);
    this.#rest = this.#rest.slice(length ?? names[index]?.length ?? 0);
    return index;
  }

  #within(value: number, [least, most]: readonly [number, number], name: string): number {
    if (value < least || value > most) this.#range = name;
    return value;
  }

  #part(part: string, next: string | undefined): void {
    const parsed = this.#parsed;
    switch (part) {
      case '06': {
        const year = this.#number(part, /^\d\d/);
        parsed.year = year >= 69 ? year + 1900 : year + 2000;
        return;
      }
      case '2006':
        parsed.year = this.#number(part, /^\d{4}/);
        return;
      case 'Jan':
        parsed.month = this.#name(part, MONTHS, 3) + 1;
        return;
      case 'January':
        parsed.month = this.#name(part, MONTHS) + 1;
        return;
      case '1':
      case '01':
        parsed.month = this.#within(this.#number(part, part === '01' ? /^\d\d/ : /^\d\d?/), [1, 12], 'month');
        return;
      case 'Mon':
      case 'Monday':
        this.#name(part, DAYS, part === 'Mon' ? 3 : undefined);
        return;
      case '2':
      case '_2':
      case '02':
        if (part === '_2') this.#rest = this.#rest.replace(/^ /, '');
        // The day is checked at the end, when the month is known.
        parsed.day = this.#number(part, part === '02' ? /^\d\d/ : /^\d\d?/);
        return;
      case '__2':
      case '002':
        if (part === '__2') this.#rest = this.#rest.replace(/^ {0,2}/, '');
        parsed.yearDay = this.#number(part, part === '002' ? /^\d{3}/ : /^\d{1,3}/);
        return;
      default:
        this.#clockPart(part, next);
    }
  }

  #clockPart(part: string, next: string | undefined): void {
    const parsed = this.#parsed;
    const digits = part.startsWith('0') ? /^\d\d/ : /^\d\d?/;
    switch (part) {
      case '15':
        parsed.hour = this.#within(this.#number(part, /^\d\d?/), [0, 23], 'hour');
        return;
      case '3':
      case '03':
        parsed.hour = this.#within(this.#number(part, digits), [0, 12], 'hour');
        return;
      case '4':
      case '04':
        parsed.minute = this.#within(this.#number(part, digits), [0, 59], 'minute');
        return;
      case '5':
      case '05':
        parsed.second = this.#within(this.#number(part, digits), [0, 59], 'second');
        // A fraction may follow even if the layout does not have one.
        if (!/^[.,][09]/.test(next ?? '')) this.#fraction(/^[.,]\d+/);
        return;
      case 'PM':
      case 'pm': {
        const word = this.#rest.slice(0, 2);
        const [pm, am] = part === 'PM' ? ['PM', 'AM'] : ['pm', 'am'];
        if (word !== pm && word !== am) this.#mismatch(part);
        if (word === pm) parsed.isPm = true;
        else parsed.isAm = true;
        this.#rest = this.#rest.slice(2);
        return;
      }
      case 'MST':
        return this.#zone(part);
      default:
        if (/^[.,]/.test(part)) this.#fixedFraction(part);
        else this.#offset(part);
    }
  }

  #fixedFraction(part: string): void {
    if (part[1] === '9') return this.#fraction(/^[.,]\d+/);
    const before = this.#rest;
    this.#fraction(new RegExp(`^[.,]\\d{${part.length - 1}}`));
    if (before === this.#rest) this.#mismatch(part);
  }

  #fraction(pattern: RegExp): void {
    const text = pattern.exec(this.#rest)?.[0];
    if (text === undefined) return;
    this.#parsed.nanoseconds = Number(text.slice(1, 10).padEnd(9, '0'));
    this.#rest = this.#rest.slice(text.length);
  }

  #zone(part: string): void {
    if (this.#rest.startsWith('UTC')) {
      this.#parsed.offset = 0;
      this.#parsed.zone = 'UTC';
      this.#rest = this.#rest.slice(3);
      return;
    }
    const name =
      /^(?:ChST|MeST|WITA|GMT[-+]\d{1,2}|[-+]\d\d(?:\d\d)?|[A-Z]{4}T|[A-Z]{3}T|[A-Z]{3})(?![A-Z])/.exec(
        this.#rest,
      )?.[0];
    if (name === undefined) return this.#mismatch(part);
    this.#rest = this.#rest.slice(name.length);
    this.#parsed.zone = name;
    this.#parsed.offset = name.startsWith('GMT') && name.length > 3 ? Number(name.slice(3)) * 3600 : 0;
  }

  #offset(part: string): void {
    if (part.startsWith('Z') && this.#rest.startsWith('Z')) {
      this.#rest = this.#rest.slice(1);
      this.#parsed.offset = 0;
      this.#parsed.zone = 'UTC';
      return;
    }
    const colon = part.includes(':') ? ':' : '';
    const count = part.replaceAll(/\D/g, '').length / 2;
    const pattern = new RegExp(`^([-+])(\\d\\d)${`${colon}(\\d\\d)`.repeat(count - 1)}`);
    const match = pattern.exec(this.#rest);
    if (match === null) return this.#mismatch(part);
    const [all, sign, hours = '0', minutes = '0', seconds = '0'] = match;
    this.#within(Number(hours), [0, 24], 'time zone offset hour');
    this.#within(Number(minutes), [0, 60], 'time zone offset minute');
    this.#within(Number(seconds), [0, 60], 'time zone offset second');
    const offset = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
    this.#parsed.offset = sign === '-' ? -offset : offset;
    this.#parsed.zone = '';
    this.#rest = this.#rest.slice(all.length);
  }

  #complete(): Moment {
    const parsed = this.#parsed;
    if (parsed.isPm && parsed.hour < 12) parsed.hour += 12;
    if (parsed.isAm && parsed.hour === 12) parsed.hour = 0;
    if (parsed.yearDay >= 0) this.#fromYearDay();
    if (parsed.month < 0) parsed.month = 1;
    if (parsed.day < 0) parsed.day = 1;
    if (parsed.day < 1 || parsed.day > daysOfMonth(parsed.year, parsed.month))
      this.#fail(': day out of range');
    const offset = parsed.offset ?? 0;
    const zone = parsed.offset === undefined || (offset === 0 && parsed.zone === '') ? 'UTC' : parsed.zone;
    return momentOf(parsed, { nanoseconds: parsed.nanoseconds, offset, zone });
  }

  #fromYearDay(): void {
    const parsed = this.#parsed;
    const days = Number(daysOf(parsed.year + 1, 1, 1) - daysOf(parsed.year, 1, 1));
    if (parsed.yearDay < 1 || parsed.yearDay > days) this.#fail(': day-of-year out of range');
    let [month, day] = [1, parsed.yearDay];
    for (; day > daysOfMonth(parsed.year, month); month++) day -= daysOfMonth(parsed.year, month);
    if (parsed.month >= 0 && parsed.month !== month) this.#fail(': day-of-year does not match month');
    if (parsed.day >= 0 && parsed.day !== day) this.#fail(': day-of-year does not match day');
    [parsed.month, parsed.day] = [month, day];
  }
}

/**
 * A part of a layout of the Go package time. A layout shows the reference time, Mon Jan 2 15:04:05
 * MST 2006.
 */
interface LayoutPart {
  /** The text between parts of the time, or the part as the layout writes it. */
  readonly text: string;
  readonly isTime: boolean;
}

const PARTS =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|002|0[1-6]|15|2006|1|2|__2|_2(?!006)|[345]|PM|pm|-070000|-07:00:00|-0700|-07:00|-07|Z070000|Z07:00:00|Z0700|Z07:00|Z07|[.,](?:0+|9+)(?!\d)/g;

export function layoutParts(layout: string): readonly LayoutPart[] {
  const parts: LayoutPart[] = [];
  let at = 0;
  for (const match of layout.matchAll(PARTS)) {
    if (match.index > at) parts.push({ text: layout.slice(at, match.index), isTime: false });
    parts.push({ text: match[0], isTime: true });
    at = match.index + match[0].length;
  }
  if (at < layout.length) parts.push({ text: layout.slice(at), isTime: false });
  return parts;
}

export const MONTHS: readonly string[] = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
