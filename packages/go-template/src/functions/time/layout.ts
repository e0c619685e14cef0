/**
 * A part of a layout of the Go package time. A layout shows the reference time, Mon Jan 2 15:04:05
 * MST 2006.
 */
export interface LayoutPart {
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
export const DAYS: readonly string[] = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
];
