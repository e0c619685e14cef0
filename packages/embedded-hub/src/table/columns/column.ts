import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { getOwn, isObject, objectAt, textAt } from '../../json/json-value.ts';

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
const YEAR_DAYS = 365;

/** One column of a Table and how a row fills it. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** 0 is always shown, 1 and more only in wide output. */
  readonly priority: number;
  /** @param now milliseconds since the epoch */
  cell(object: JsonObject, now: number): JsonValue;
}

type Cell = (object: JsonObject, now: number) => JsonValue;

export function column(
  name: string,
  cell: Cell,
  more: Partial<Pick<Column, 'type' | 'format' | 'priority' | 'description'>> = {},
): Column {
  return { name, type: 'string', format: '', description: '', priority: 0, ...more, cell };
}

export const wide = (name: string, cell: Cell): Column => column(name, cell, { priority: 1 });

export const NAME_COLUMN = column('Name', (object) => textAt(objectAt(object, 'metadata'), 'name'), {
  format: 'name',
});
export const AGE_COLUMN = column('Age', (object, now) =>
  ageText(objectAt(object, 'metadata')?.['creationTimestamp'], now),
);

/** The value at a dotted path, undefined where there is none. */
export function valueAt(object: JsonValue | undefined, path: string): JsonValue | undefined {
  let value = object;
  for (const part of path.split('.')) value = isObject(value) ? getOwn(value, part) : undefined;
  return value;
}

/** The text at a dotted path; `fallback` where there is none. */
export function textOf(object: JsonValue | undefined, path: string, fallback = '<none>'): string {
  const value = valueAt(object, path);
  if (value === undefined || value === null || value === '') return fallback;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export function numberOf(object: JsonValue | undefined, path: string): number {
  const value = valueAt(object, path);
  return typeof value === 'number' ? value : 0;
}

/** The objects of the list at a dotted path. */
export function itemsOf(object: JsonValue | undefined, path: string): readonly JsonObject[] {
  const value = valueAt(object, path);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Labels as `a=b,c=d`, sorted. */
export function labelsText(labels: JsonValue | undefined): string {
  if (!isObject(labels) || Object.keys(labels).length === 0) return '<none>';
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${String(value as string)}`)
    .sort()
    .join(',');
}

/** A column that shows a field unchanged. */
export const fieldColumn = (name: string, path: string, more: Parameters<typeof column>[2] = {}): Column =>
  column(name, (object) => textOf(object, path), more);

/** A column that shows a count. */
export const countColumn = (name: string, path: string): Column =>
  column(name, (object) => numberOf(object, path), { type: 'integer' });

/** An age in the short form of kubectl: `45s`, `5m30s`, `3h`, `7d4h`, `2y100d`. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * MINUTE) return `${String(seconds)}s`;
  if (seconds < 10 * MINUTE) return two(seconds, [MINUTE, 'm'], [1, 's']);
  if (seconds < 3 * HOUR) return `${String(Math.floor(seconds / MINUTE))}m`;
  if (seconds < 8 * HOUR) return two(seconds, [HOUR, 'h'], [MINUTE, 'm']);
  if (seconds < 2 * DAY) return `${String(Math.floor(seconds / HOUR))}h`;
  if (seconds < 8 * DAY) return two(seconds, [DAY, 'd'], [HOUR, 'h']);
  if (seconds < 2 * YEAR_DAYS * DAY) return `${String(Math.floor(seconds / DAY))}d`;
  if (seconds < 8 * YEAR_DAYS * DAY) return two(seconds, [YEAR_DAYS * DAY, 'y'], [DAY, 'd']);
  return `${String(Math.floor(seconds / (YEAR_DAYS * DAY)))}y`;
}

type Unit = readonly [size: number, letter: string];

function two(seconds: number, [big, bigLetter]: Unit, [small, smallLetter]: Unit): string {
  const rest = Math.floor((seconds % big) / small);
  const head = `${String(Math.floor(seconds / big))}${bigLetter}`;
  return rest === 0 ? head : `${head}${String(rest)}${smallLetter}`;
}

/** Age of an RFC 3339 time; `<unknown>` when there is none. */
export function ageText(time: unknown, now: number): string {
  if (typeof time !== 'string' || time === '') return '<unknown>';
  const since = Date.parse(time);
  return Number.isNaN(since) ? '<invalid>' : humanDuration(now - since);
}
