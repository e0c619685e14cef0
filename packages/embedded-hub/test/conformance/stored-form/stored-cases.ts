import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { JsonObject, JsonValue } from '../../../src/json/json-value.ts';
import { isObject } from '../../../src/json/json-value.ts';
import { editedObjects, idOf, objectsUnder } from '../validation/good-objects.ts';
import type { Edit, ValidationCase } from '../validation/validation-case.ts';
import { STATUS_CASES } from './status-cases.ts';

/** What a server stored of a write that it accepted: the places in which its answer differs from that to the object without edits. */
export interface StoredCase extends ValidationCase {
  readonly want: readonly Edit[];
}

export interface StoredForms {
  /** Answers to the creation of the objects as they are, by id. */
  readonly created: Readonly<Record<string, JsonObject>>;
  readonly cases: readonly StoredCase[];
}

/** Custom resources are kept as they are. */
const LEFT_OUT = /^(?:Carrier|ManifestWork|ManifestWorkReplicaSet)\//;
/** Controllers in the server write their status as soon as they are stored. */
const ONLY_CREATED = /^(?:APIService|CustomResourceDefinition)\//;

/** The objects that are written: of every built-in kind small and large ones. */
export function storedObjects(): readonly JsonObject[] {
  const own = objectsUnder(new URL('objects/', import.meta.url));
  return [...editedObjects(), ...own].filter((object) => !LEFT_OUT.test(idOf(object)));
}

/** Each object applied; each field taken away, null, and empty, on create, apply and update; writes to status. */
export function storedCases(): readonly ValidationCase[] {
  const generated = storedObjects().flatMap((object) =>
    [...emptyings(object, '')].flatMap((edit): readonly ValidationCase[] => {
      const create: ValidationCase = { object: idOf(object), verb: 'create', edits: [edit] };
      const made: readonly ValidationCase[] = [create, { ...create, verb: 'apply' }];
      return ONLY_CREATED.test(idOf(object)) ? made : [...made, { ...create, verb: 'update' }];
    }),
  );
  const applied = storedObjects().map(
    (object): ValidationCase => ({ object: idOf(object), verb: 'apply', edits: [] }),
  );
  return [...applied, ...generated, ...STATUS_CASES];
}

const NAMES = new Set(['/apiVersion', '/kind', '/metadata/name', '/metadata/namespace']);

function* emptyings(value: JsonValue, pointer: string): Generator<Edit> {
  if (NAMES.has(pointer)) return;
  if (pointer !== '' && pointer !== '/metadata') {
    yield [pointer];
    yield [pointer, null];
    const empty = emptyOf(value);
    if (JSON.stringify(empty) !== JSON.stringify(value)) yield [pointer, empty];
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* emptyings(item, `${pointer}/${String(index)}`);
  } else if (isObject(value)) {
    for (const [key, below] of Object.entries(value)) yield* emptyings(below, `${pointer}/${escaped(key)}`);
  }
}

function emptyOf(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return [];
  if (isObject(value)) return {};
  if (typeof value === 'string') return '';
  return typeof value === 'number' ? 0 : false;
}

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** Where `after` differs from `before`, as edits of it. */
export function differences(before: JsonValue, after: JsonValue, pointer = ''): readonly Edit[] {
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return keys.flatMap((key) => {
      const at = `${pointer}/${escaped(key)}`;
      const [old, now] = [before[key], after[key]];
      if (now === undefined) return [[at] as const];
      return old === undefined ? [[at, now] as const] : differences(old, now, at);
    });
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((item, index) =>
      differences(item, after[index] as JsonValue, `${pointer}/${String(index)}`),
    );
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [[pointer, after]];
}

const FILE = new URL('stored-form.jsonl.gz', import.meta.url);

/** What kube-apiserver 1.35.4 stored; `UPDATE_GOLDEN=1 npm run test:interop` records it again. */
export function readStoredForms(): StoredForms {
  const [first, ...lines] = gunzipSync(readFileSync(FILE)).toString('utf8').trim().split('\n');
  const created = JSON.parse(first ?? '{}') as StoredForms['created'];
  return { created, cases: lines.map((line) => JSON.parse(line) as StoredCase) };
}

export function writeStoredForms({ created, cases }: StoredForms): void {
  const text = [created, ...cases].map((one) => `${JSON.stringify(one)}\n`).join('');
  writeFileSync(FILE, gzipSync(text, { level: 9 }));
}
