import type { KindInfo } from '@berth/kube/model/kinds';
import { NAMESPACE } from '@berth/kube/model/kinds';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { findCondition } from '@berth/kube/model/condition-list';
import { ACCEPTED, acceptanceFailed, CLUSTER_CONDITIONS } from '@berth/ocm/registration/cluster-conditions';
import {
  API_RESOURCE_FINALIZER,
  WORK_FINALIZER,
  ALL_AGENTS_GROUP,
  clusterGroup,
} from '@berth/ocm/registration/names';
import { acceptedObjects, deniedObjects, type DesiredObject } from './cluster-objects.ts';
import { sameRights } from './same-rights.ts';

/** The objects of a cluster on the hub. */
export interface ClusterFacts {
  readonly name: string;
  /** Undefined if the hub confirmed that there is none. */
  readonly cluster: ManagedCluster | undefined;
  /** The object of this kind, name and namespace; undefined when there is none. */
  readonly find: (wanted: DesiredObject) => KubeObject | undefined;
  /** Whether the namespace of the cluster contains ManifestWorks. */
  readonly hasWorks: boolean;
}

export type ObjectWrite =
  | { readonly do: 'create'; readonly kind: KindInfo; readonly object: KubeObject }
  /** A JSON merge patch. It applies only if the object has not changed since it was read. */
  | { readonly do: 'patch'; readonly kind: KindInfo; readonly object: KubeObject; readonly patch: object }
  | { readonly do: 'delete'; readonly kind: KindInfo; readonly object: KubeObject };

export interface AcceptancePlan {
  readonly writes: readonly ObjectWrite[];
  /** The change of the ManagedCluster's finalizer: added before the writes, removed after them. */
  readonly finalizer: 'add' | 'remove' | undefined;
  /** The condition if all writes succeed; undefined: no change. */
  readonly condition: Condition | undefined;
  /** Works still need the binding of the work agent. Check again soon. */
  readonly isWaiting: boolean;
}

const NOTHING: AcceptancePlan = {
  writes: [],
  finalizer: undefined,
  condition: undefined,
  isWaiting: false,
};

/**
 * The writes that give the cluster the objects for its `hubAcceptsClient`. A cluster that was never accepted gets none.
 * A denied cluster keeps its namespace and works, and may read that it is denied. Unlike in OCM, its condition is False
 * at once, and not only after its works are deleted.
 * Source: open-cluster-management.io/ocm `pkg/registration/hub/managedcluster/controller.go`, sync.
 */
export function planAcceptance(facts: ClusterFacts): AcceptancePlan {
  const { cluster } = facts;
  if (cluster === undefined || cluster.metadata.deletionTimestamp !== undefined) return removal(facts);
  const before = findCondition(cluster.status?.conditions, ACCEPTED);
  // Its group would be the group of all agents, so every agent could read and write the objects of this cluster.
  if (clusterGroup(facts.name) === ALL_AGENTS_GROUP)
    return { ...NOTHING, condition: acceptanceFailed(`no cluster can have the name ${facts.name}`) };
  if (cluster.spec?.hubAcceptsClient === true) return acceptance(facts, cluster);
  return before === undefined ? NOTHING : denial(facts);
}

function acceptance(facts: ClusterFacts, cluster: ManagedCluster): AcceptancePlan {
  const writes = acceptedObjects(facts.name).flatMap((wanted) => writesToMatch(facts.find(wanted), wanted));
  const hasFinalizer = cluster.metadata.finalizers?.includes(API_RESOURCE_FINALIZER) === true;
  return {
    writes,
    finalizer: hasFinalizer ? undefined : 'add',
    condition: CLUSTER_CONDITIONS.accepted,
    // The old binding is being deleted. The new one is created afterwards.
    isWaiting: writes.some((write) => write.do === 'patch' && isBeingDeleted(write.object)),
  };
}

function denial(facts: ClusterFacts): AcceptancePlan {
  const kept = deniedObjects(facts.name);
  const bindings = removeBindings(facts);
  return {
    writes: [...kept.flatMap((wanted) => writesToMatch(facts.find(wanted), wanted)), ...bindings.writes],
    finalizer: undefined,
    condition: CLUSTER_CONDITIONS.denied,
    isWaiting: bindings.isWaiting,
  };
}

function removal(facts: ClusterFacts): AcceptancePlan {
  const clusterWide = deniedObjects(facts.name).flatMap(({ kind, object }): ObjectWrite[] => {
    const live = facts.find({ kind, object });
    return live === undefined || isBeingDeleted(live) ? [] : [{ do: 'delete', kind, object: live }];
  });
  const bindings = removeBindings(facts);
  const isWaiting = bindings.isWaiting || (facts.cluster !== undefined && facts.hasWorks);
  const hasFinalizer = facts.cluster?.metadata.finalizers?.includes(API_RESOURCE_FINALIZER) === true;
  return {
    writes: [...clusterWide, ...bindings.writes],
    finalizer: hasFinalizer && !isWaiting ? 'remove' : undefined,
    condition: undefined,
    isWaiting,
  };
}

/** The work agent needs its binding until it has deleted the last work. A finalizer keeps the binding until then. */
function removeBindings(facts: ClusterFacts): Pick<AcceptancePlan, 'writes' | 'isWaiting'> {
  const writes: ObjectWrite[] = [];
  let isWaiting = false;
  for (const wanted of acceptedObjects(facts.name)) {
    if (wanted.object.metadata.namespace === undefined) continue;
    const live = facts.find(wanted);
    if (live === undefined) continue;
    const { kind } = wanted;
    if (!isBeingDeleted(live)) writes.push({ do: 'delete', kind, object: live });
    if (live.metadata.finalizers?.includes(WORK_FINALIZER) !== true) continue;
    if (facts.hasWorks) isWaiting = true;
    else writes.push(withoutWorkFinalizer(kind, live));
  }
  return { writes, isWaiting };
}

/** The writes that create or change the object to match the wanted one. None if it already does. */
export function writesToMatch(
  live: KubeObject | undefined,
  { kind, object }: DesiredObject,
): readonly ObjectWrite[] {
  if (live === undefined) return [{ do: 'create', kind, object }];
  // A deletion cannot be undone.
  if (isBeingDeleted(live))
    return live.metadata.finalizers?.includes(WORK_FINALIZER) === true
      ? [withoutWorkFinalizer(kind, live)]
      : [];
  // The role of a binding cannot be changed.
  if (object['roleRef'] !== undefined && !sameRights({ ...live, subjects: object['subjects'] }, object))
    return [
      { do: 'delete', kind, object: live },
      { do: 'create', kind, object },
    ];
  const patch = {
    ...metadataPatch(live, object),
    ...(kind === NAMESPACE || sameRights(live, object)
      ? {}
      : { rules: object['rules'], subjects: object['subjects'] }),
  };
  return Object.keys(patch).length === 0 ? [] : [{ do: 'patch', kind, object: live, patch }];
}

/** Keeps labels, finalizers and owners of others. */
function metadataPatch(live: KubeObject, wanted: KubeObject): { readonly metadata?: object } {
  const labels = Object.entries(wanted.metadata.labels ?? {}).filter(
    ([key, value]) => live.metadata.labels?.[key] !== value,
  );
  const has = live.metadata.finalizers ?? [];
  const missing = (wanted.metadata.finalizers ?? []).filter((finalizer) => !has.includes(finalizer));
  const owners = live.metadata.ownerReferences ?? [];
  const newOwners = (wanted.metadata.ownerReferences ?? []).filter(
    ({ uid }) => !owners.some((owner) => owner.uid === uid),
  );
  if (labels.length + missing.length + newOwners.length === 0) return {};
  return {
    metadata: {
      ...(labels.length > 0 && { labels: Object.fromEntries(labels) }),
      ...(missing.length > 0 && { finalizers: [...has, ...missing] }),
      ...(newOwners.length > 0 && { ownerReferences: [...owners, ...newOwners] }),
    },
  };
}

function withoutWorkFinalizer(kind: KindInfo, object: KubeObject): ObjectWrite {
  const finalizers = (object.metadata.finalizers ?? []).filter((one) => one !== WORK_FINALIZER);
  return { do: 'patch', kind, object, patch: { metadata: { finalizers } } };
}

function isBeingDeleted({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}
