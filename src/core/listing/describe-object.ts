import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { printable } from '@berth/runtime/text/printable';
import { heldObjects, listHolds } from './list-holds.ts';
import { ageSince, type Listed } from './listed.ts';

/** What `berth describe` shows of an object of the hub. */
export interface Described {
  readonly object: KubeObject;
  /** The rows that `berth get` has for it. */
  readonly listed: Listed;
  /** What only its kind has; a sentence where that is not read. */
  readonly sections: readonly DescribedSection[] | string;
  /** Events about it; a sentence where they are not read. */
  readonly events: readonly KubeObject[] | string;
}

export interface DescribedSection {
  readonly title: string;
  /** A line that begins with spaces belongs to the one before. */
  readonly lines: readonly string[];
}

/** As wide as the narrowest terminal that people use. */
const WIDTH = 80;
const MAX_EVENTS = 10;
const IN_ORDER: Readonly<Record<string, string>> = { NAMESPACE: 'Namespace', NAME: 'Name' };

/**
 * An object for people: what its row in `berth get` says, what it waits for, its conditions, what its kind has, and its Events. No line is
 * longer than 80 characters unless a word is.
 */
export function describeObject(described: Described, nowMs: number): string {
  const { object, listed, sections, events } = described;
  const { labels = {}, generation } = object.metadata;
  const { conditions = [] } = (object['status'] ?? {}) as { readonly conditions?: readonly Condition[] };
  const [only, ...others] = listed.rows;
  const isOneRow = only !== undefined && others.length === 0;
  const fields = isOneRow ? fieldsOf(listed.header, only) : namesOf(object);
  return [
    ...fieldLines([...fields, ['Labels', Object.entries(labels).map(([key, value]) => `${key}=${value}`)]]),
    ...(isOneRow || only === undefined
      ? []
      : part(
          'Rows of berth get',
          listed.rows.map((row) => rowText(listed.header, row)),
        )),
    ...part(
      'Waits for an approval',
      heldObjects([object]).flatMap((held) => waitLines(held, nowMs)),
    ),
    ...part(
      'Conditions',
      conditions.flatMap((one) => conditionLines(one, { generation, nowMs })),
    ),
    ...(typeof sections === 'string'
      ? part('More', [sections])
      : sections.flatMap(({ title, lines }) => part(title, lines))),
    ...part('Events', typeof events === 'string' ? [events] : eventLines(events, nowMs)),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

type Field = readonly [name: string, values: readonly string[]];

function fieldsOf(header: readonly string[], row: readonly string[]): readonly Field[] {
  return header.map((title, at): Field => [titleOf(title), [row[at] ?? '']]);
}

function namesOf({ metadata: { namespace, name } }: KubeObject): readonly Field[] {
  return [
    ['Namespace', [namespace ?? '']],
    ['Name', [name]],
  ];
}

/** `NUMBER OF MANIFESTS` becomes `Number of manifests`. */
function titleOf(title: string): string {
  return IN_ORDER[title] ?? `${title.slice(0, 1)}${title.slice(1).toLowerCase()}`;
}

function fieldLines(fields: readonly Field[]): readonly string[] {
  const shown = fields.filter(([, values]) => values.some((value) => value !== ''));
  const width = Math.max(...shown.map(([name]) => name.length)) + 3;
  return shown.flatMap(([name, values]) =>
    values.flatMap((value, at) =>
      wrapped(value, (at === 0 ? `${name}:` : '').padEnd(width), ' '.repeat(width)),
    ),
  );
}

function rowText(header: readonly string[], row: readonly string[]): string {
  return header
    .flatMap((title, at) => (row[at] === '' ? [] : [`${title.toLowerCase()} ${row[at]}`]))
    .join(', ');
}

/** @returns nothing for no lines */
function part(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0
    ? []
    : [
        `${title}:`,
        ...lines.flatMap((line) => {
          const [indent = ''] = /^ */.exec(line) ?? [];
          return wrapped(line.trimStart(), `  ${indent}`, `    ${indent}`);
        }),
      ];
}

function waitLines(held: KubeObject, nowMs: number): readonly string[] {
  return listHolds([held], nowMs).rows.flatMap(([of = '', code = '', age = '', why = '']) => [
    `${of}${age === '' ? '' : ` for ${age}`}: ${why}`,
    ...(code === '' ? [] : [`  approval code ${code}`]),
  ]);
}

function conditionLines(
  { type, status, reason = '', message = '', lastTransitionTime, observedGeneration }: Condition,
  { generation, nowMs }: { readonly generation: number | undefined; readonly nowMs: number },
): readonly string[] {
  const age = ageSince(lastTransitionTime, nowMs);
  const isOld = observedGeneration !== undefined && observedGeneration !== generation;
  const notes = [...(age === '' ? [] : [age]), ...(isOld ? [`of generation ${observedGeneration}`] : [])];
  const end = notes.length === 0 ? '' : ` (${notes.join(', ')})`;
  return [`${type} ${status}, ${reason}${end}${message === '' ? '' : `: ${message}`}`];
}

/** The newest last. */
function eventLines(events: readonly KubeObject[], nowMs: number): readonly string[] {
  const read = events.map(readEvent).toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const more = read.length - MAX_EVENTS;
  return [
    ...(more > 0 ? [`${more} older Events`] : []),
    ...read.slice(-MAX_EVENTS).map(({ at, count, type, reason, note }) => {
      const times = count > 1 ? `, ${count} times` : '';
      const age = ageSince(at, nowMs);
      return `${age === '' ? '' : `${age} ago`}${times} ${type === 'Normal' ? '' : `${type} `}${reason}: ${note}`.trim();
    }),
  ];
}

/** An Event of events.k8s.io/v1. */
interface EventFields {
  readonly eventTime?: string | null;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string } | null;
  readonly deprecatedLastTimestamp?: string | null;
  readonly deprecatedCount?: number;
  readonly type?: string;
  readonly reason?: string;
  readonly note?: string;
}

function readEvent(event: KubeObject) {
  const { series, eventTime, type = '', reason = '', note = '', ...old } = event as EventFields & KubeObject;
  return {
    at:
      series?.lastObservedTime ??
      eventTime ??
      old.deprecatedLastTimestamp ??
      event.metadata.creationTimestamp ??
      '',
    count: series?.count ?? old.deprecatedCount ?? 1,
    ...{ type, reason, note },
  };
}

/** Text from outside on lines of its own. Words are not divided. */
function wrapped(text: string, first: string, next: string): readonly string[] {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of text
    .split(/\s+/)
    .filter((one) => one !== '')
    .map(printable)) {
    if (!isEmpty && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      [line, isEmpty] = [next, true];
    }
    line += `${isEmpty ? '' : ' '}${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}
