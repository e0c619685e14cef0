import { isObject } from '@berth/runtime/json/json-value';
import { compareText } from '@berth/runtime/text/compare-text';
import { formatFieldPath, type FieldPath } from '@berth/kube/model/field-path';
import { canonicalJson, jsonEqual } from '@berth/runtime/json/json-equal';
import type { FieldChange } from './plan-effects.ts';

/** The maximum number of fields that are listed for one object. */
const MAX_FIELDS = 50;
const MAX_VALUE_LENGTH = 200;
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The fields that differ between two versions of an object, as deep as they can be compared. List items are matched by
 * `name`, otherwise by position. Values of a Secret, and values that may repeat them, are never returned.
 */
export function fieldChanges(before: unknown, after: unknown): readonly FieldChange[] {
  const found: FieldChange[] = [];
  collect({ before, after, path: [], secretFrom: undefined }, found);
  const changes = found.sort((a, b) => compareText(a.path, b.path));
  if (changes.length <= MAX_FIELDS) return changes;
  const left = changes.length - MAX_FIELDS;
  return [
    ...changes.slice(0, MAX_FIELDS),
    { path: `… and ${left} more fields`, before: undefined, after: undefined },
  ];
}

interface Compared {
  readonly before: unknown;
  readonly after: unknown;
  readonly path: FieldPath;
  /** The length of the path to the Secret that contains this field; undefined if no Secret contains it. */
  readonly secretFrom: number | undefined;
}

function collect(compared: Compared, found: FieldChange[]): void {
  const { before, after, path } = compared;
  if (jsonEqual(before, after) || canonicalJson(before ?? null) === canonicalJson(after ?? null)) return;
  const isSecret = isSecretObject(before) || isSecretObject(after);
  const secretFrom = compared.secretFrom ?? (isSecret ? path.length : undefined);
  if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const inside = { before: own(before, key), after: own(after, key) };
      collect({ ...inside, path: [...path, key], secretFrom }, found);
    }
    return;
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    for (const { at, ...pair } of pairItems(before, after))
      collect({ ...pair, path: [...path, at], secretFrom }, found);
    return;
  }
  const name = formatFieldPath(path);
  if (compared.secretFrom !== undefined && holdsSecrets(path.slice(compared.secretFrom)))
    found.push({ path: name, before: undefined, after: undefined, secret: true });
  else found.push({ path: name, before: shown(before), after: shown(after) });
}

interface PairedItem {
  readonly before: unknown;
  readonly after: unknown;
  /** The position after the change, or before it if the item is removed. */
  readonly at: number;
}

function pairItems(before: readonly unknown[], after: readonly unknown[]): readonly PairedItem[] {
  const names = [namesOf(before), namesOf(after)] as const;
  const [left, right] = names;
  if (left === undefined || right === undefined)
    return Array.from({ length: Math.max(before.length, after.length) }, (_, at) => ({
      before: before[at],
      after: after[at],
      at,
    }));
  const kept = [...right].map(([name, at]) => ({
    before: before[left.get(name) ?? -1],
    after: after[at],
    at,
  }));
  const gone = [...left].filter(([name]) => !right.has(name));
  return [...kept, ...gone.map(([, at]) => ({ before: before[at], after: undefined, at }))];
}

/** Positions by name; undefined if an item has no unique name. */
function namesOf(items: readonly unknown[]): ReadonlyMap<string, number> | undefined {
  const names = new Map<string, number>();
  for (const [at, item] of items.entries()) {
    const name = isObject(item) ? own(item, 'name') : undefined;
    if (typeof name !== 'string' || names.has(name)) return undefined;
    names.set(name, at);
  }
  return names;
}

/** Everything in a Secret except its name and type, so that fields that are added later are covered. */
function holdsSecrets(path: FieldPath): boolean {
  const [first, second, third] = path;
  if (first === 'metadata') return second === undefined || third === LAST_APPLIED || second === 'annotations';
  return first !== 'apiVersion' && first !== 'kind' && first !== 'type' && first !== 'immutable';
}

function isSecretObject(value: unknown): boolean {
  return isObject(value) && value['kind'] === 'Secret';
}

function shown(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const text = canonicalJson(hideSecrets(value));
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
}

/** An object that is added or removed inside another one may be a Secret. */
function hideSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hideSecrets);
  if (!isObject(value)) return value;
  if (isSecretObject(value))
    return { apiVersion: value['apiVersion'], kind: 'Secret', metadata: nameOf(value['metadata']) };
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, hideSecrets(item)]));
}

function nameOf(metadata: unknown): Fields {
  return isObject(metadata) ? { name: metadata['name'] } : {};
}

function own(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}
