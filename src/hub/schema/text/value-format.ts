import { spendOnText } from '../../json/work-budget.ts';

const DATE_TIME =
  /^\d{4}-(\d{2})-(\d{2})[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const DURATION = /^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))*$|^0$/;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const EMAIL = /^[^\s@<>]+@[^\s@<>]+$/;
const HOSTNAME =
  /^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*\.?$/;
const IPV4 = /^((25[0-5]|2[0-4]\d|1?\d?\d)(\.|$)){4}$/;

/** Nothing longer is a date, a host name or a duration; the expressions for some of them recurse with the length of the text. */
const MAX_LENGTH = 4_096;
const UNBOUNDED_FORMATS: ReadonlySet<string> = new Set(['byte', 'uri']);
const CHARACTERS_PER_STEP = 16;

/** Checks of the string formats the API server knows. Formats that are not in here are not checked there either. */
const STRING_FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': isDateTime,
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  byte: (text) => text.length % 4 === 0 && BASE64.test(text),
  duration: (text) => DURATION.test(text),
  uuid: (text) => UUID.test(text),
  email: (text) => EMAIL.test(text),
  hostname: (text) => text.length <= 255 && HOSTNAME.test(text),
  ipv4: (text) => IPV4.test(text),
  ipv6: (text) => text.includes(':') && URL.canParse(`http://[${text}]/`),
  uri: (text) => /^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(text) || text.startsWith('/'),
};

export function matchesStringFormat(format: string, text: string): boolean {
  const check = Object.hasOwn(STRING_FORMATS, format) ? STRING_FORMATS[format] : undefined;
  if (check === undefined) return true;
  spendOnText(text.length, CHARACTERS_PER_STEP);
  return (text.length <= MAX_LENGTH || UNBOUNDED_FORMATS.has(format)) && check(text);
}

/** RFC 3339, as Go parses it. */
export function isDateTime(text: string): boolean {
  return DATE_TIME.test(text) && !Number.isNaN(Date.parse(text.replace(/:60/, ':59')));
}

export function matchesNumberFormat(format: string, value: number): boolean {
  if (format === 'int32') return value >= -(2 ** 31) && value < 2 ** 31;
  if (format === 'int64') return value >= -(2 ** 63) && value < 2 ** 63;
  return true;
}
