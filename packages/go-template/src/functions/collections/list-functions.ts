import { checkBounds, GoError } from '../../value/go-error.ts';
import { compareBytes } from '../../text/bytes.ts';
import { func, type FuncMap, variadic } from '../../value/go-func.ts';
import { type Any, BOOL, INT, INTERFACE, LIST, LISTS, STRINGS, valueOf } from '../../value/go-type.ts';
import { checkElements, spend } from '../../value/work.ts';
import { toInt64 } from '../numbers/number-functions.ts';
import { elements, strslice, strval } from '../text/text-functions.ts';
import { deepEqual, isEmpty } from './default-functions.ts';

const NIL_POINTER = 'runtime error: invalid memory address or nil pointer dereference';

/** The elements of a list. Another value fails with the error text of Go. */
function listOf(value: Any, complaint: (kind: string) => string): readonly Any[] {
  if (value === null) throw new GoError(NIL_POINTER);
  const list = elements(value);
  if (list === undefined) throw new GoError(complaint(value.type.kind));
  return list;
}

const cannot = (doing: string) => (kind: string) => `Cannot ${doing} type ${kind}`;

/** A list or nil: sprig's functions give nil for an empty list. */
function orNil(list: readonly Any[], of: (list: readonly Any[]) => readonly Any[]): readonly Any[] | null {
  return list.length === 0 ? null : of(list);
}

function chunk(size: bigint, value: Any): readonly (readonly Any[])[] {
  const list = listOf(value, cannot('chunk'));
  const step = Number(size);
  const count = Math.floor((list.length - 1) / step) + 1;
  if (count < 0 || !Number.isFinite(count) || (step < 0 && count > 0))
    throw new GoError('runtime error: makeslice: len out of range');
  checkElements(count);
  return Array.from({ length: count }, (_, index) => list.slice(index * step, index * step + step));
}

function uniq(list: readonly Any[]): readonly Any[] {
  const seen: Any[] = [];
  for (const element of list) {
    spend(seen.length);
    if (!isIn(seen, element)) seen.push(element);
  }
  return seen;
}

function isIn(list: readonly Any[], needle: Any): boolean {
  return list.some((element) => deepEqual(needle, element));
}

function has(needle: Any, haystack: Any): boolean {
  return haystack !== null && isIn(listOf(haystack, cannot('find has on')), needle);
}

/** sprig's slice, which keeps the type of the list. */
function slice(value: Any, indices: readonly Any[]): Any {
  const list = listOf(value, (kind) => `list should be type of slice or array but ${kind}`);
  if (list.length === 0 || value === null) return null;
  const [from, to] = indices;
  const start = Number(from === undefined ? 0n : toInt64(from));
  const end = to === undefined ? list.length : Number(toInt64(to));
  if (start < 0 || end < start || end > list.length)
    throw new GoError('reflect.Value.Slice: slice index out of bounds');
  checkBounds(start, end, { length: list.length, what: 'capacity' });
  return { type: value.type, data: (value.data as readonly unknown[]).slice(start, end) };
}

function concat(lists: readonly Any[]): Any {
  const parts = lists.map((list) => listOf(list, (kind) => `Cannot concat type ${kind} as list`));
  checkElements(parts.reduce((sum, part) => sum + part.length, 0));
  const all = parts.flat();
  return valueOf(LIST, all.length === 0 ? null : all);
}

/** sortAlpha sorts a `[]string` in its place, as sprig does. */
function sortAlpha(value: Any): readonly string[] {
  if (elements(value) === undefined) return [strval(value)];
  const texts =
    value?.type.name === STRINGS.name ? ((value.data as string[] | null) ?? []) : [...strslice(value)];
  spend(texts.length * 8);
  return texts.sort(compareBytes);
}

/**
 * The functions that also exist with the prefix must. In a template both forms fail with the same
 * text.
 */
const BOTH: FuncMap = new Map([
  [
    'append',
    func([INTERFACE, INTERFACE], LIST, (list, value) => [...listOf(list, cannot('push on')), value]),
  ],
  ['push', func([INTERFACE, INTERFACE], LIST, (list, value) => [...listOf(list, cannot('push on')), value])],
  [
    'prepend',
    func([INTERFACE, INTERFACE], LIST, (list, value) => [value, ...listOf(list, cannot('prepend on'))]),
  ],
  ['first', func([INTERFACE], INTERFACE, (list) => listOf(list, cannot('find first on')).at(0) ?? null)],
  ['last', func([INTERFACE], INTERFACE, (list) => listOf(list, cannot('find last on')).at(-1) ?? null)],
  [
    'rest',
    func([INTERFACE], LIST, (list) => orNil(listOf(list, cannot('find rest on')), (all) => all.slice(1))),
  ],
  [
    'initial',
    func([INTERFACE], LIST, (list) =>
      orNil(listOf(list, cannot('find initial on')), (all) => all.slice(0, -1)),
    ),
  ],
  ['reverse', func([INTERFACE], LIST, (list) => listOf(list, cannot('find reverse on')).toReversed())],
  ['uniq', func([INTERFACE], LIST, (list) => uniq(listOf(list, cannot('find uniq on'))))],
  [
    'compact',
    func([INTERFACE], LIST, (list) =>
      listOf(list, cannot('compact on')).filter((element) => !isEmpty(element)),
    ),
  ],
  [
    'without',
    variadic([INTERFACE], INTERFACE, [
      LIST,
      (list, omitted) => listOf(list, cannot('find without on')).filter((element) => !isIn(omitted, element)),
    ]),
  ],
  ['has', func([INTERFACE, INTERFACE], BOOL, has)],
  ['slice', variadic([INTERFACE], INTERFACE, [INTERFACE, slice])],
  ['chunk', func([INT, INTERFACE], LISTS, chunk)],
]);

const list = variadic([], INTERFACE, [LIST, (values) => values]);

/** sprig's functions for lists (list.go). */
export const LIST_FUNCTIONS: FuncMap = new Map([
  ...BOTH,
  ...[...BOTH].map(([name, fun]) => [`must${name.charAt(0).toUpperCase()}${name.slice(1)}`, fun] as const),
  ['list', list],
  ['tuple', list],
  ['concat', variadic([], INTERFACE, [INTERFACE, concat])],
  ['sortAlpha', func([INTERFACE], STRINGS, sortAlpha)],
]);
