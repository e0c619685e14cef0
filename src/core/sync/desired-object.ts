import { ADDON_PLACEMENT_SCORE, MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Taint } from '@berth/ocm/kind/managed-cluster';
import { SCHEDULING_DISABLE_ANNOTATION } from '@berth/ocm/kind/placement';
import { SCHEDULER_ANNOTATION } from '@berth/placement/explain/verdict/names-on-placements';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import { mergePatch } from '@berth/runtime/json/merge-patch';
import type { Digest } from '../publish/approval/approval-code.ts';
import { APPLIED_HASH_ANNOTATION } from './applied/adoption.ts';
import { APPLIED_TAINTS_ANNOTATION, taintNames, withoutTimes } from './applied/cluster-taints.ts';
import { APPLY_SET_PART_OF_LABEL } from './apply-set.ts';

export interface DesiredOptions {
  readonly applySetId: string;
  readonly digest: Digest;
  /** Berth decides placements. The first write already tells other schedulers to ignore them. */
  readonly annotatePlacements: boolean;
}

/** The object to apply for an object from Git, without status and without fields that the server sets. */
export function desiredObject(object: KubeObject, options: DesiredOptions): KubeObject {
  const { name, namespace, labels, annotations, finalizers, ownerReferences } = object.metadata;
  const { status: _status, ...rest } = ownedFields(object);
  const added =
    options.annotatePlacements &&
    object.kind === 'Placement' &&
    annotations?.[SCHEDULING_DISABLE_ANNOTATION] === undefined
      ? { [SCHEDULING_DISABLE_ANNOTATION]: 'true', [SCHEDULER_ANNOTATION]: 'berth' }
      : {};
  const taints = (rest['spec'] as { readonly taints?: readonly Taint[] } | undefined)?.taints;
  const taintNote =
    object.kind === 'ManagedCluster' && taints !== undefined
      ? { [APPLIED_TAINTS_ANNOTATION]: taintNames(taints) }
      : {};
  const metadata = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: { ...labels, [APPLY_SET_PART_OF_LABEL]: options.applySetId },
    annotations: { ...annotations, ...added, ...taintNote },
    ...(finalizers === undefined ? {} : { finalizers }),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
  };
  const hash = options.digest(canonicalJson({ ...rest, metadata })).slice(0, 16);
  return {
    ...rest,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [APPLIED_HASH_ANNOTATION]: hash } },
  };
}

/**
 * The object with the fields that Git may own. Of the spec of a ManagedCluster these are acceptance, taints and lease
 * duration; the cluster's agent and the hub own the rest.
 */
function ownedFields(object: KubeObject): KubeObject {
  if (object.kind !== 'ManagedCluster') return object;
  const { hubAcceptsClient, taints, leaseDurationSeconds } = (object['spec'] ?? {}) as Record<
    string,
    unknown
  >;
  const timeless = Array.isArray(taints) ? withoutTimes(taints) : taints;
  const owned = { hubAcceptsClient, taints: timeless, leaseDurationSeconds };
  const spec = Object.fromEntries(Object.entries(owned).filter(([, value]) => value !== undefined));
  return { ...object, spec };
}

/** Whether the live object already has all fields that would be sent, and no other fields that Berth applied earlier. */
export function isApplied(desired: KubeObject, live: KubeObject): boolean {
  const hash = desired.metadata.annotations?.[APPLIED_HASH_ANNOTATION];
  return live.metadata.annotations?.[APPLIED_HASH_ANNOTATION] === hash && containsAll(live, desired);
}

const WITH_RECORDED_STATUS: ReadonlySet<string> = new Set([MANAGED_CLUSTER.kind, ADDON_PLACEMENT_SCORE.kind]);

/** Whether the status that Git records of a kind is written to a hub without agents. */
export function isStatusRecorded(kind: string): boolean {
  return WITH_RECORDED_STATUS.has(kind);
}

/** Whether the status that Git records is to be written: the hub has another one. */
export function lacksRecordedStatus(live: unknown, recorded: unknown): boolean {
  return recorded !== undefined && !containsAll(live, recorded);
}

/** The status after the recorded one is written. Fields that Git does not record stay. */
export function withRecordedStatus<T>(live: T, recorded: unknown): T {
  return lacksRecordedStatus(live, recorded) ? (mergePatch(live, recorded) as T) : live;
}

/**
 * Whether everything in `part` is in `whole`. An empty value may be absent from `whole`, because servers drop it. Fields
 * that are only in `whole` are ignored, because servers add defaults. Lists are compared item by item.
 */
export function containsAll(whole: unknown, part: unknown): boolean {
  if (Object.is(whole, part)) return true;
  if (whole === undefined || whole === null) return isEmpty(part);
  if (typeof part !== 'object' || typeof whole !== 'object' || part === null) return false;
  if (Array.isArray(part) || Array.isArray(whole)) return sameItems(whole, part);
  const live = whole as Record<string, unknown>;
  return Object.entries(part).every(([key, value]) =>
    containsAll(Object.hasOwn(live, key) ? live[key] : undefined, value),
  );
}

function sameItems(whole: object, part: object): boolean {
  if (!Array.isArray(whole) || !Array.isArray(part) || whole.length !== part.length) return false;
  return part.every((item, at) => containsAll(whole[at], item));
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** Sets the namespace as kubectl does: a namespaced object without one gets `default`, a cluster-scoped one gets none. */
export function placeObject(
  object: KubeObject,
  { namespaced }: { readonly namespaced: boolean },
): KubeObject {
  if (namespaced)
    return object.metadata.namespace === undefined
      ? { ...object, metadata: { ...object.metadata, namespace: 'default' } }
      : object;
  // Most objects need no change. Returning the same object lets callers recognize it.
  if (object.metadata.namespace === undefined) return object;
  const { namespace: _namespace, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Kinds that others need are first; objects of one wave are independent of each other. */
const WAVES: readonly (readonly string[])[] = [
  ['Namespace', 'CustomResourceDefinition'],
  ['ServiceAccount', 'ClusterRole', 'Role', 'Secret', 'ConfigMap', 'ManagedClusterSet'],
  ['ClusterRoleBinding', 'RoleBinding', 'ManagedCluster', 'ManagedClusterSetBinding'],
  ['AddOnPlacementScore', 'ClusterManagementAddOn', 'AddOnDeploymentConfig', 'AddOnTemplate'],
  ['Placement', 'ManagedClusterAddOn'],
];

/** Kinds that are not listed may depend on all listed ones, so they are last. */
function applyWave(kind: string): number {
  const wave = WAVES.findIndex((kinds) => kinds.includes(kind));
  return wave === -1 ? WAVES.length : wave;
}

/** Groups in the order of application; reverse it to delete. */
export function groupByWave<T extends Pick<KubeObject, 'kind'>>(
  objects: readonly T[],
): readonly (readonly T[])[] {
  const waves = Array.from({ length: WAVES.length + 1 }, (): T[] => []);
  for (const object of objects) waves[applyWave(object.kind)]?.push(object);
  return waves.filter((wave) => wave.length > 0);
}
