import type { KubeObject } from '@berth/kube/model/object-meta';
import { AGENT_MANAGER } from '../applied/ownership.ts';
import { hasKey, type ManagedFields } from './fields-outside-manifest.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface TakeOver {
  /** The field manager that is about to apply. */
  readonly manager: string;
  /**
   * Whether the object belongs to the work. One that is orphaned may be shared unseen, so what other managers applied stays
   * theirs.
   */
  readonly isOwned: boolean;
  /** The live object without the fields that the manifest leaves alone. They keep their manager. */
  readonly reach: KubeObject;
}

/**
 * The managedFields of an object before it is applied by server-side apply, where the agent wrote it in another way
 * before: with an update, or as another field manager. Its fields become those of the new manager, as kubectl does with
 * what its client-side apply wrote. Otherwise the agent would be in conflict with itself, and a field that left the
 * manifest would stay.
 *
 * Another manager's apply is taken over only before the first apply of the new one, because later it is somebody else's.
 * Owner references and finalizers are never applied, so they are never taken over.
 *
 * @param live with managedFields, as read from the server; no other work may share the object
 * @returns undefined if there is nothing to take over
 */
export function takeOverFields(
  live: KubeObject,
  { manager, isOwned, reach }: TakeOver,
): readonly ManagedFields[] | undefined {
  const entries = (live.metadata.managedFields ?? []) as readonly ManagedFields[];
  const target = entries.find((entry) => isApply(entry) && entry.manager === manager);
  const isEarlier = (entry: ManagedFields): boolean => {
    if ((entry.subresource ?? '') !== '' || entry === target) return false;
    if (isApply(entry)) return isOwned && target === undefined && isOfAgent(entry);
    return entry.manager === AGENT_MANAGER || entry.manager === manager;
  };
  const { ownerReferences: _owners, finalizers: _finalizers, ...metadata } = reach.metadata;
  const within = { ...reach, metadata };
  const parts = entries.filter(isEarlier).map((entry) => ({ entry, ...split(entry.fieldsV1 ?? {}, within) }));
  const moved = parts.filter(({ taken }) => !isEmpty(taken));
  const first = moved[0]?.entry;
  if (first === undefined) return undefined;
  const fieldsV1 = moved.reduce<Fields>((all, { taken }) => unite(all, taken), target?.fieldsV1 ?? {});
  const others = entries.flatMap((entry) => {
    if (entry === target) return [];
    const part = moved.find((one) => one.entry === entry);
    if (part === undefined) return [entry];
    return isEmpty(part.kept) ? [] : [{ ...entry, fieldsV1: part.kept }];
  });
  return [{ ...(target ?? first), manager, operation: 'Apply', fieldsV1 }, ...others];
}

function isApply({ operation, subresource = '' }: ManagedFields): boolean {
  return operation === 'Apply' && subresource === '';
}

/** OCM lets works name only managers with this prefix. */
function isOfAgent({ manager = '' }: ManagedFields): boolean {
  return manager.startsWith(AGENT_MANAGER);
}

interface Parts {
  readonly taken: Fields;
  readonly kept: Fields;
}

/** Divides a tree of `fieldsV1` into the elements that the value has, and all others. */
function split(tree: Fields, value: unknown): Parts {
  const taken: Record<string, unknown> = {};
  const kept: Record<string, unknown> = {};
  for (const [element, below] of Object.entries(tree) as [string, Fields][]) {
    const inside = partOf(value, element);
    if (inside === undefined) kept[element] = below;
    else if (isEmpty(below)) taken[element] = below;
    else {
      const parts = split(below, inside);
      if (!isEmpty(parts.taken)) taken[element] = parts.taken;
      if (!isEmpty(parts.kept)) kept[element] = parts.kept;
    }
  }
  return { taken, kept };
}

/** What an element is about. Items of sets have no parts, and stay with their list. */
function partOf(value: unknown, element: string): unknown {
  const text = element.slice(2);
  if (element.startsWith('k:'))
    return Array.isArray(value) ? value.find((item) => hasKey(item, JSON.parse(text) as Fields)) : undefined;
  if (!element.startsWith('f:')) return value;
  const isField = typeof value === 'object' && value !== null && Object.hasOwn(value, text);
  return isField ? (value as Fields)[text] : undefined;
}

function unite(a: Fields, b: Fields): Fields {
  const all: Record<string, unknown> = { ...a };
  for (const [element, below] of Object.entries(b)) {
    const before = a[element] as Fields | undefined;
    all[element] = before === undefined ? below : uniteBelow(before, below as Fields);
  }
  return all;
}

/** An element without others below is a member itself; with some, it is one only if it has `.`. */
function uniteBelow(a: Fields, b: Fields): Fields {
  const united = unite(a, b);
  return (isEmpty(a) || isEmpty(b)) && !isEmpty(united) ? { '.': {}, ...united } : united;
}

function isEmpty(fields: Fields): boolean {
  return Object.keys(fields).length === 0;
}
