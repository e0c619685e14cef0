import { itemName, keyName } from './field-names.ts';
import type { Fields } from './manager-fields.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * What remains of a value when the owner of some fields applies none of them any more: a field that nobody else owns
 * goes. Objects and lists that become empty go, too.
 * Source of the rule: sigs.k8s.io/structured-merge-diff `merge/update.go` (prune).
 * @param own the fields of the owner, as a tree of `fieldsV1`
 * @param others the trees of the others
 */
export function withoutOwned(value: unknown, own: Fields, others: readonly Fields[]): unknown {
  if (Array.isArray(value)) return withoutItems(value, own, others);
  if (typeof value !== 'object' || value === null) return value;
  const rest: Record<string, unknown> = { ...(value as Values) };
  for (const [element, below = {}] of Object.entries(own)) {
    const name = element.slice(2);
    if (!element.startsWith('f:') || !Object.hasOwn(rest, name)) continue;
    const remaining = remainingOf(rest[name], below, treesAt(others, element));
    if (remaining === undefined) delete rest[name];
    else rest[name] = remaining;
  }
  return rest;
}

function withoutItems(items: readonly unknown[], own: Fields, others: readonly Fields[]): readonly unknown[] {
  return items.flatMap((item, at) => {
    const element = Object.keys(own).find((name) => isItem(name, item, at));
    if (element === undefined) return [item];
    const remaining = remainingOf(item, own[element] ?? {}, treesAt(others, element));
    return remaining === undefined ? [] : [remaining];
  });
}

/** @returns undefined if nothing remains */
function remainingOf(value: unknown, below: Fields, others: readonly Fields[]): unknown {
  if (isLeaf(below) || below['.'] !== undefined) {
    if (others.length === 0) return undefined;
    if (isLeaf(below)) return value;
  }
  const rest = withoutOwned(value, below, others);
  return isEmpty(rest) && !isEmpty(value) && others.length === 0 ? undefined : rest;
}

function treesAt(trees: readonly Fields[], element: string): readonly Fields[] {
  return trees.flatMap((tree) => {
    const below = tree[element];
    return below === undefined ? [] : [below];
  });
}

/** Whether an element of `fieldsV1` names the item: by its key (`k:`), its value (`v:`) or its position (`i:`). */
function isItem(element: string, item: unknown, at: number): boolean {
  const text = element.slice(2);
  switch (element.slice(0, 2)) {
    case 'k:':
      return hasKey(item, JSON.parse(text) as Values);
    case 'v:':
      return itemName(JSON.parse(text)) === itemName(item);
    case 'i:':
      return Number(text) === at;
    default:
      return false;
  }
}

/** A field of the key that the item does not set has its default, as the protocol of a port. */
function hasKey(item: unknown, key: Values): boolean {
  if (typeof item !== 'object' || item === null) return false;
  const set = Object.entries(key).filter(([name]) => Object.hasOwn(item, name));
  const found = Object.fromEntries(set.map(([name]) => [name, (item as Values)[name]]));
  return set.length > 0 && keyName(found) === keyName(Object.fromEntries(set));
}

function isLeaf(tree: Fields): boolean {
  return Object.keys(tree).length === 0;
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
