import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { hasTakenFields } from './adoption.ts';
import { gitTaints } from './cluster-taints.ts';
import { hasContentOfOthers } from './departure.ts';
import {
  FIELD_MANAGER,
  isFromGit,
  itemName,
  keyName,
  type ManagedFieldSet as Fields,
  managedFieldsOf,
  managerApplies,
  WITHDRAWN_MANAGER,
} from './field-names.ts';

/** How Git's fields are taken off an object that stays. */
export interface Withdrawal {
  /**
   * Content that must stay although only Git owns it. It is applied by another manager first; then Git's manager applies
   * nothing. Undefined: none.
   */
  readonly kept: KubeObject | undefined;
  /** The object as it will be. */
  readonly after: KubeObject;
}

/**
 * Plans that Git's manager applies nothing any more. What it added goes; what another manager owns, too, stays. Three
 * things stay although only Git owns them, because they would be lost rather than restored: whether the hub accepts a
 * cluster, with its lease; taints of others, which Git had to send with its own; and the content of an object of
 * which nobody else owns any, or of which Git took fields of others. Without it a work would remove its workloads.
 */
export function planWithdrawal(live: KubeObject): Withdrawal {
  const own = managerApplies(live, FIELD_MANAGER) ?? {};
  const others = managedFieldsOf(live)
    .filter((entry) => !isFromGit(entry))
    .map(({ fieldsV1 = {} }) => fieldsV1);
  if (live.kind === 'ManagedCluster') {
    const spec = keptOfCluster(live as unknown as ManagedCluster, {
      own: own['f:spec'] ?? {},
      // A withdrawal that was interrupted, or an earlier one: its manager must go on applying what it owns.
      kept: managerApplies(live, WITHDRAWN_MANAGER)?.['f:spec'] ?? {},
    });
    const handedOver = { ...live, spec: { ...(live['spec'] as object | undefined), ...spec } };
    const { 'f:spec': ofSpec = {}, ...rest } = own;
    const lost = withoutNames(ofSpec, spec);
    // An empty tree would be the whole spec.
    const leaving = Object.keys(lost).length === 0 ? rest : { ...rest, 'f:spec': lost };
    const after = withoutOwned(handedOver, leaving, others) as KubeObject;
    return { kept: Object.keys(spec).length === 0 ? undefined : { ...headOf(live), spec }, after };
  }
  const content = hasContentOfOthers(live) && !hasTakenFields(live) ? {} : contentOf(live);
  const after = withoutOwned(live, withoutNames(own, content), others) as KubeObject;
  return { kept: Object.keys(content).length === 0 ? undefined : { ...headOf(live), ...content }, after };
}

type Content = Readonly<Record<string, unknown>>;

function keptOfCluster(
  { spec = {}, ...cluster }: ManagedCluster,
  { own, kept }: { readonly own: Fields; readonly kept: Fields },
): Content {
  const ownsTaints = own['f:taints'] !== undefined;
  const ofGit = gitTaints({ ...cluster, spec }, ownsTaints);
  const taints = (spec.taints ?? []).filter((taint) => !ofGit.includes(taint));
  // Who wrote the list last owns all of it: registration may own taints of Git, and Git those of registration.
  const mustWriteTaints = ownsTaints ? taints.length > 0 : ofGit.length > 0 || kept['f:taints'] !== undefined;
  const stays = (name: string): boolean => (own[`f:${name}`] ?? kept[`f:${name}`]) !== undefined;
  return {
    ...(stays('hubAcceptsClient') && { hubAcceptsClient: spec.hubAcceptsClient }),
    ...(stays('leaseDurationSeconds') && { leaseDurationSeconds: spec.leaseDurationSeconds }),
    ...(mustWriteTaints && { taints }),
  };
}

function contentOf(live: KubeObject): Content {
  const { apiVersion: _version, kind: _kind, metadata: _metadata, status: _status, ...content } = live;
  return content;
}

/** An apply with the uid creates nothing, if the object is gone meanwhile. */
export function headOf({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid } = metadata;
  return { apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }), uid } };
}

/** The tree without the fields that get another owner. */
function withoutNames(own: Fields, given: Content): Fields {
  return Object.fromEntries(Object.entries(own).filter(([name]) => !Object.hasOwn(given, name.slice(2))));
}

type Values = Readonly<Record<string, unknown>>;

/**
 * What remains of a value when the owner of some fields applies none of them any more: a field that nobody else owns
 * goes. Objects and lists that become empty go, too.
 * Source of the rule: sigs.k8s.io/structured-merge-diff `merge/update.go` (prune).
 * @param own the fields of the owner, as a tree of `fieldsV1`
 * @param others the trees of the others
 */
function withoutOwned(value: unknown, own: Fields, others: readonly Fields[]): unknown {
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
