import type { JsonObject, JsonValue } from '../../../src/json/json-value.ts';
import { isObject } from '../../../src/json/json-value.ts';
import type { Edit } from './validation-case.ts';

const BAD_TEXTS = ['', 'Not Valid!', 'x'.repeat(254)];
const ODD_NUMBERS = [-1, 0, 2147483647];
/** Wrong answers about these come from the path of the request, not from validation. */
const SKIPPED = new Set(['/apiVersion', '/kind', '/metadata/namespace']);

/** What metadata may be like, tried on every kind: rules for names differ. */
const METADATA_EDITS: readonly Edit[] = [
  ...['a/b', 'a%b', 'A', 'a.b', '1a', 'a:b', 'a_b', '-a', 'x'.repeat(64)].map(
    (name): Edit => ['/metadata/name', name],
  ),
  ['/metadata/generateName', 'Bad_'],
  ['/metadata/generateName', 'a-'],
  ['/metadata/labels', { 'a b': '' }],
  ['/metadata/labels', { bad: '!' }],
  ['/metadata/annotations', { 'a b': '' }],
  ['/metadata/finalizers', ['plain']],
  ['/metadata/finalizers', ['a b/c']],
  ['/metadata/finalizers', ['kubernetes', 'example.com/ok']],
  ['/metadata/ownerReferences', [{}]],
];

/** Single changes of an object, each at one place: something is missing, empty, twice there, out of range or misspelt. */
export function generatedEdits(object: JsonObject): readonly Edit[] {
  return [...METADATA_EDITS, ...editsBelow(object, '')];
}

function* editsBelow(value: JsonValue, pointer: string): Generator<Edit> {
  if (SKIPPED.has(pointer)) return;
  if (pointer !== '') yield* editsAt(value, pointer);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* editsBelow(item, `${pointer}/${String(index)}`);
  } else if (isObject(value)) {
    for (const [key, below] of Object.entries(value))
      yield* editsBelow(below, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}

function* editsAt(value: JsonValue, pointer: string): Generator<Edit> {
  yield [pointer];
  if (typeof value === 'string') for (const text of BAD_TEXTS) yield [pointer, text];
  else if (typeof value === 'number') for (const number of ODD_NUMBERS) yield [pointer, number];
  else if (typeof value === 'boolean') yield [pointer, !value];
  else if (Array.isArray(value)) {
    yield [pointer, []];
    if (value[0] !== undefined) yield [`${pointer}/-`, value[0]];
  } else if (isObject(value)) yield [pointer, {}];
}
