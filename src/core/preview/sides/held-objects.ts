import {
  ADDON_PLACEMENT_SCORE,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  PLACEMENT,
  typeKeyOf,
} from '@berth/kube/model/kinds';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import { identityOf, namespacedName } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import { SCHEDULER_ANNOTATION } from '@berth/placement/explain/verdict/names-on-placements';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { oncePerList } from '@berth/runtime/lists/once-per-list';
import { APPLIED_HASH_ANNOTATION } from '../../sync/applied/adoption.ts';
import type { Digest } from '../../publish/approval/approval-code.ts';
import { APPLY_SET_PART_OF_LABEL, applySetId, parentOfSource } from '../../sync/apply-set.ts';
import { containsAll, desiredObject, placeObject } from '../../sync/desired-object.ts';
import { ADDED_ANNOTATIONS, leftNames, withoutLeftFields } from '../../sync/left-fields.ts';

/** What the hub has of objects of Git, by `inputKey`. */
export type HeldObjects = ReadonlyMap<string, KubeObject>;

type InputList = 'placements' | 'clusters' | 'clusterSets' | 'bindings' | 'scores';

const LISTS: readonly (readonly [InputList, KindInfo])[] = [
  ['placements', PLACEMENT],
  ['clusters', MANAGED_CLUSTER],
  ['clusterSets', MANAGED_CLUSTER_SET],
  ['bindings', MANAGED_CLUSTER_SET_BINDING],
  ['scores', ADDON_PLACEMENT_SCORE],
];
const KINDS = new Map(LISTS.map(([, kind]) => [typeKeyOf(kind), kind]));

/** The keys of objects that were asked for before: a fleet is compared for each plan. */
const KEYS = new WeakMap<KubeObject, string>();

/** Identifies an object that decisions are made from; undefined for any other object. */
export function inputKey(object: KubeObject): string | undefined {
  let key = KEYS.get(object);
  if (key !== undefined) return key;
  const kind = KINDS.get(`${object.apiVersion} ${object.kind}`);
  if (kind === undefined) return undefined;
  KEYS.set(object, (key = keyOf(kind, placeObject(object, kind).metadata)));
  return key;
}

function keyOf({ kind }: KindInfo, metadata: Pick<ObjectMeta, 'namespace' | 'name'>): string {
  return `${kind} ${namespacedName(metadata)}`;
}

/** The lists of consecutive plans are mostly the same. */
const INDEXES = LISTS.map(([list, kind]) => ({
  list,
  byKey: oncePerList(
    (objects: readonly unknown[]) =>
      new Map((objects as readonly KubeObject[]).map((one) => [keyOf(kind, one.metadata), one])),
  ),
}));

/** Finds an input of decisions that a hub has by its `inputKey`. */
export function inputsOf(hub: Snapshot): (key: string) => KubeObject | undefined {
  const maps = INDEXES.map(({ list, byKey }) => byKey(hub[list]));
  return (key) => maps.find((map) => map.has(key))?.get(key);
}

/**
 * The objects of the head that the base does not have, or has with another content.
 * @returns each with the object of the base; undefined: a new one
 */
export function changedObjects(
  base: readonly SourceObject[],
  head: readonly SourceObject[],
): ReadonlyMap<SourceObject, SourceObject | undefined> {
  const known = new Set(base.map(({ object }) => object));
  const fresh = head.filter(({ object }) => !known.has(object));
  if (fresh.length === 0) return new Map();
  const before = new Map(base.map((source) => [identityOf(source.object), source]));
  return new Map(
    fresh
      .map((source) => [source, before.get(identityOf(source.object))] as const)
      .filter(([{ object }, old]) => old === undefined || !jsonEqual(old.object, object)),
  );
}

/** The results of `compareWithHub` for the live object that was compared last. */
const COMPARED = new WeakMap<KubeObject, { readonly live: KubeObject; readonly result: OnHub }>();

/**
 * `declared`: the live object has just what Git declares. `written`: the controller wrote it from this content, and it
 * is what the hub made of that: defaults, and fields that stay with others. `different`: neither.
 */
export type OnHub = 'declared' | 'written' | 'different';

/** @param source the name of the source that applies the object */
export function compareWithHub(object: KubeObject, live: KubeObject, source: string, digest: Digest): OnHub {
  const known = COMPARED.get(object);
  if (known?.live === live) return known.result;
  const isWritten = (): OnHub => (isAsWritten(object, live, source, digest) ? 'written' : 'different');
  const result = isAsDeclared(object, live) ? 'declared' : isWritten();
  COMPARED.set(object, { live, result });
  return result;
}

function isAsDeclared(object: KubeObject, live: KubeObject): boolean {
  if (!hasTextsOf(live, object)) return false;
  if (object.kind === ADDON_PLACEMENT_SCORE.kind) return true;
  return object.kind === MANAGED_CLUSTER.kind
    ? hasOwnedFieldsOf(live, object)
    : jsonEqual(live['spec'] ?? {}, object['spec'] ?? {});
}

/** Fields that were left to other managers do not count. */
function isAsWritten(object: KubeObject, live: KubeObject, source: string, digest: Digest): boolean {
  const { annotations = {} } = live.metadata;
  const hash = annotations[APPLIED_HASH_ANNOTATION];
  const kind = KINDS.get(`${object.apiVersion} ${object.kind}`);
  if (hash === undefined || kind === undefined) return false;
  const placed = placeObject(object, kind);
  const desired = desiredObject(placed, {
    digest,
    applySetId: applySetId(digest, parentOfSource(source)),
    annotatePlacements: annotations[SCHEDULER_ANNOTATION] === 'berth',
  });
  if (desired.metadata.annotations?.[APPLIED_HASH_ANNOTATION] !== hash) return false;
  const left = leftNames(live).map((name) => ({ name, managers: [] }));
  const rest = withoutLeftFields(placed, left);
  return (
    rest !== undefined &&
    hasTextsOf(live, rest) &&
    (kind === MANAGED_CLUSTER ? hasOwnedFieldsOf(live, rest) : containsAll(live['spec'], rest['spec'] ?? {}))
  );
}

function hasTextsOf(live: KubeObject, { metadata: { labels = {}, annotations = {} } }: KubeObject): boolean {
  return containsAll(live.metadata.labels, labels) && containsAll(live.metadata.annotations, annotations);
}

interface ClusterSpec {
  readonly hubAcceptsClient?: boolean;
  readonly leaseDurationSeconds?: number;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
}

/** The other fields of the spec belong to the agent of the cluster. Taints have several writers. */
function hasOwnedFieldsOf(live: KubeObject, cluster: KubeObject): boolean {
  const there: ClusterSpec = live['spec'] ?? {};
  const { hubAcceptsClient, leaseDurationSeconds, taints = [] } = (cluster['spec'] ?? {}) as ClusterSpec;
  return (
    (hubAcceptsClient === undefined || hubAcceptsClient === there.hubAcceptsClient) &&
    (leaseDurationSeconds === undefined || leaseDurationSeconds === there.leaseDurationSeconds) &&
    taints.every(({ key, value = '', effect }) =>
      there.taints?.some((one) => one.key === key && (one.value ?? '') === value && one.effect === effect),
    )
  );
}

/**
 * The snapshot with the objects as the hub has them.
 * @param snapshot with the objects of Git laid over those of the hub
 */
export function withHeld(snapshot: Snapshot, held: HeldObjects): Snapshot {
  if (held.size === 0) return snapshot;
  const lists = LISTS.map(([list, kind]) => {
    const objects = snapshot[list] as unknown as readonly KubeObject[];
    const after = objects.map((object) => heldAs(object, held.get(keyOf(kind, object.metadata))));
    // Caches are keyed by the list, so an unchanged list is returned as it is.
    return [list, after.every((object, at) => object === objects[at]) ? objects : after];
  });
  return { ...snapshot, ...(Object.fromEntries(lists) as Pick<Snapshot, InputList>) };
}

/** The last results of `heldAs`. An object that is the same as in the last plan need not be decided again. */
const HELD = new WeakMap<KubeObject, { readonly known: KubeObject; readonly result: KubeObject }>();

function heldAs(known: KubeObject, held: KubeObject | undefined): KubeObject {
  if (held === undefined || held === known) return known;
  const last = HELD.get(held);
  // The head is laid over the base, of which this was done already.
  if (last !== undefined && (last.known === known || last.result === known)) return last.result;
  const result = laidOver(known, held);
  HELD.set(held, { known, result });
  return result;
}

/**
 * Labels, annotations and spec are those that the hub holds; the rest is what is known of the object. The taints of a
 * cluster are laid over each other already.
 */
function laidOver(known: KubeObject, held: KubeObject): KubeObject {
  const { [APPLY_SET_PART_OF_LABEL]: _set, ...labels } = held.metadata.labels ?? {};
  const set = known.metadata.labels?.[APPLY_SET_PART_OF_LABEL];
  const metadata = {
    ...known.metadata,
    labels: set === undefined ? labels : { ...labels, [APPLY_SET_PART_OF_LABEL]: set },
    annotations: annotationsOf(known, held),
  };
  if (held['spec'] === undefined) return { ...known, metadata };
  const { taints } = (known['spec'] ?? {}) as ClusterSpec;
  return { ...known, metadata, spec: { ...held['spec'], ...(taints !== undefined && { taints }) } };
}

function annotationsOf(known: KubeObject, held: KubeObject): Readonly<Record<string, string>> {
  const annotations: Record<string, string> = { ...held.metadata.annotations };
  for (const name of ADDED_ANNOTATIONS) {
    const before = known.metadata.annotations?.[name];
    if (before === undefined) delete annotations[name];
    else annotations[name] = before;
  }
  return annotations;
}
