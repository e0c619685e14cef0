import { Refusal } from '../../value/go-error.ts';
import { DAYS, layoutParts, MONTHS } from './layout.ts';
import type { Moment } from './moment.ts';
import { clockFields, UNKNOWN_ZONE } from './moment.ts';

/** time.Time's Format. */
export function formatTime(moment: Moment, layout: string): string {
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
export function timeText(moment: Moment): string {
  return formatTime(moment, '2006-01-02 15:04:05.999999999 -0700 MST');
}

/** A time as in JSON: RFC 3339. */
export function rfc3339(moment: Moment): string {
  return formatTime(moment, '2006-01-02T15:04:05.999999999Z07:00');
}
