import type { JsonObject, JsonValue } from '../../../src/json/json-value.ts';

/** One change of an object: a JSON pointer and the value to put there; without a value the field is removed. */
export type Edit = readonly [pointer: string] | readonly [pointer: string, value: JsonValue];

/**
 * One write. `create` posts a good object with the edits, `apply` applies it where none is; `update` and `status` put
 * the stored object with the edits, to the object itself and to its status.
 */
export interface ValidationCase {
  /** `Kind/name` of a good object. */
  readonly object: string;
  readonly verb: 'create' | 'apply' | 'update' | 'status';
  readonly edits: readonly Edit[];
}

/** What a server answered, in the words that have to be equal. */
export interface Verdict {
  readonly status: number;
  readonly reason?: string;
  /** `reason field: message` of each cause, in the order of the server. */
  readonly causes?: readonly string[];
  /** What is stored of embedded resources. */
  readonly spec?: string;
  /** Of an answer without causes. */
  readonly message?: string;
}

export interface RecordedCase extends ValidationCase {
  readonly want: Verdict;
}

export const caseName = ({ object, verb, edits }: ValidationCase): string =>
  `${verb} ${object} ${edits.map(([pointer, ...value]) => `${pointer}=${shortened(value)}`).join(' ')}`;

function shortened(value: readonly JsonValue[]): string {
  const text = value.length === 0 ? '(removed)' : JSON.stringify(value[0]);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

/** A copy of the object with the edits. Objects on the way are made where they are missing; `-` appends to a list. */
export function withEdits(object: JsonObject, edits: readonly Edit[]): JsonObject {
  // Parts may be shared: no edit shows in two places.
  const copy = JSON.parse(JSON.stringify(object)) as JsonObject;
  for (const [pointer, ...value] of edits) applyEdit(copy, pointer, value);
  return copy;
}

function applyEdit(root: JsonObject, pointer: string, value: readonly JsonValue[]): void {
  const parts = pointer.split('/').slice(1);
  const keys = parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = keys.pop() as string;
  let at = root;
  for (const key of keys) at = (at[key] ??= {}) as JsonObject;
  if (Array.isArray(at) && last === '-') at.push(...value);
  else if (Array.isArray(at) && value.length === 0) at.splice(Number(last), 1);
  else if (value.length === 0) delete at[last];
  else at[last] = structuredClone(value[0] as JsonValue);
}
