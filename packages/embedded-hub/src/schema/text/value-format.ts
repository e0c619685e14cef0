import { parseRfc3339 } from '@berth/kube/model/rfc3339';
import { chargeText } from '../../json/work-budget.ts';

/** Upper-case; whether day, hour, minute and second exist is checked by parseRfc3339. */
const DATE_TIME = /^[\d:T-]+(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const DURATION = /^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))*$|^0$/;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const EMAIL = /^[^\s@<>]+@[^\s@<>]+$/;
const HOSTNAME =
  /^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*\.?$/;
const IPV4 = /^((25[0-5]|2[0-4]\d|1?\d?\d)(\.|$)){4}$/;

/** Limit on the characters of a value: no valid date, host name or duration is longer, and some of the expressions recurse once per character. */
const MAX_LENGTH = 4_096;
/** Formats whose valid values may be longer than MAX_LENGTH. */
const UNBOUNDED_FORMATS: ReadonlySet<string> = new Set(['byte', 'uri']);
/** Characters that a format check reads for one step of the work budget. */
const CHARACTERS_PER_STEP = 16;

/** One check for each string format that the API server checks. Like the API server, the hub ignores other formats. */
const STRING_FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': isDateTime,
  date: (text) => DATE.test(text) && isDateTime(`${text}T00:00:00Z`),
  byte: (text) => text.length % 4 === 0 && BASE64.test(text),
  duration: (text) => DURATION.test(text),
  uuid: (text) => UUID.test(text),
  email: (text) => EMAIL.test(text),
  hostname: (text) => text.length <= 255 && HOSTNAME.test(text),
  ipv4: (text) => IPV4.test(text),
  ipv6: (text) => text.includes(':') && URL.canParse(`http://[${text}]/`),
  uri: (text) => /^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(text) || text.startsWith('/'),
};

/** Whether the text is a valid value of the format; any text is one of an unknown format. */
export function matchesStringFormat(format: string, text: string): boolean {
  const check = Object.hasOwn(STRING_FORMATS, format) ? STRING_FORMATS[format] : undefined;
  if (check === undefined) return true;
  chargeText(text.length, CHARACTERS_PER_STEP);
  return (text.length <= MAX_LENGTH || UNBOUNDED_FORMATS.has(format)) && check(text);
}

/**
 * A time of RFC 3339 with a day of the calendar and no leap second; `t` and `z` may be lower-case.
 * Source: k8s.io/kube-openapi, pkg/validation/strfmt/time.go (IsDateTime), which also accepts offsets beyond 23:59.
 */
export function isDateTime(text: string): boolean {
  const upperCase = text.toUpperCase();
  return DATE_TIME.test(upperCase) && parseRfc3339(upperCase) !== undefined;
}

/** Whether the number is in the range of the format; any number is in that of an unknown format. */
export function matchesNumberFormat(format: string, value: number): boolean {
  if (format === 'int32') return value >= -(2 ** 31) && value < 2 ** 31;
  if (format === 'int64') return value >= -(2 ** 63) && value < 2 ** 63;
  return true;
}
