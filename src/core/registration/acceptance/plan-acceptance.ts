import type { KindInfo } from '@berth/kube/model/kinds';
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
import { acceptedObjects, deniedObjects } from './cluster-objects.ts';
import {
  type DesiredObject,
  isBeingDeleted,
  type ObjectWrite,
  writesToMatch,
} from '@berth/kube/model/object-writes';

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
  const writes = acceptedObjects(facts.name).flatMap((wanted) => acceptedWrites(facts.find(wanted), wanted));
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
    writes: [...kept.flatMap((wanted) => acceptedWrites(facts.find(wanted), wanted)), ...bindings.writes],
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

/** A binding of a work agent that is being deleted loses the finalizer: only then can a new one be made. */
function acceptedWrites(live: KubeObject | undefined, wanted: DesiredObject): readonly ObjectWrite[] {
  const isGoing = live !== undefined && isBeingDeleted(live);
  return isGoing && live.metadata.finalizers?.includes(WORK_FINALIZER) === true
    ? [withoutWorkFinalizer(wanted.kind, live)]
    : writesToMatch(live, wanted);
}

function withoutWorkFinalizer(kind: KindInfo, object: KubeObject): ObjectWrite {
  const finalizers = (object.metadata.finalizers ?? []).filter((one) => one !== WORK_FINALIZER);
  return { do: 'patch', kind, object, patch: { metadata: { finalizers } } };
}
