import type { ManagedCluster, Taint } from '@berth/ocm/kind/managed-cluster';
import { findCondition, setCondition } from '@berth/kube/model/condition-list';
import { AVAILABLE, CLUSTER_CONDITIONS } from '@berth/ocm/registration/cluster-conditions';
import { UNAVAILABLE_TAINT, UNREACHABLE_TAINT } from '@berth/ocm/registration/names';

const OWN_KEYS: readonly string[] = [UNREACHABLE_TAINT, UNAVAILABLE_TAINT];

/**
 * Whether the hub sets and removes the taint according to the health of the cluster. Taints of users have other keys,
 * values or effects.
 */
export function isHealthTaint({ key, value, effect }: Taint): boolean {
  return OWN_KEYS.includes(key) && (value ?? '') === '' && effect === 'NoSelect';
}

/**
 * The taints that a cluster should have: those of users unchanged, and the one for its health. Undefined if it has
 * them. A new taint has no time: the API server's admission sets it, and refuses a time that is sent.
 * Source: open-cluster-management.io/ocm `pkg/registration/hub/taint/controller.go`.
 */
export function planTaints(cluster: ManagedCluster): readonly Taint[] | undefined {
  if (cluster.metadata.deletionTimestamp !== undefined) return undefined;
  const taints = cluster.spec?.taints ?? [];
  const wanted = wantedKey(cluster);
  const kept = taints.filter((taint) => !isHealthTaint(taint) || taint.key === wanted);
  const isMissing = wanted !== undefined && !kept.some((taint) => isHealthTaint(taint));
  if (!isMissing && kept.length === taints.length) return undefined;
  return isMissing ? [...kept, { key: wanted, effect: 'NoSelect' }] : kept;
}

/** Adds a time to taints without one, for a hub without admission. Undefined if each has a time. */
export function stampHealthTaints(cluster: ManagedCluster, now: string): readonly Taint[] | undefined {
  const taints = cluster.spec?.taints ?? [];
  const isUnstamped = (taint: Taint): boolean =>
    isHealthTaint(taint) && (taint.timeAdded === undefined || taint.timeAdded === null);
  if (!taints.some(isUnstamped)) return undefined;
  return taints.map((taint) => (isUnstamped(taint) ? { ...taint, timeAdded: now } : taint));
}

/**
 * The cluster as decisions see it where Berth sets these taints: a cluster that has never reported has its taint from the
 * first moment, and a taint that has no time yet has the time since which the cluster does not answer. Without this, a
 * cluster that registers would be selected until its taint is written, and a toleration of some minutes would end while
 * the taint has no time.
 */
export function withHealthTaints(cluster: ManagedCluster): ManagedCluster {
  const available = findCondition(cluster.status?.conditions, AVAILABLE);
  const planned = available === undefined ? planTaints(cluster) : undefined;
  const tainted = planned === undefined ? cluster : withTaints(cluster, planned);
  const since = available?.lastTransitionTime ?? cluster.metadata.creationTimestamp ?? '';
  const stamped = stampHealthTaints(tainted, since);
  return stamped === undefined ? tainted : withTaints(tainted, stamped);
}

/** The cluster as it will be when its agent is given up: the condition, and the taint from that time on. */
export function unreachableSince(cluster: ManagedCluster, now: string): ManagedCluster {
  const conditions = setCondition(cluster.status?.conditions ?? [], CLUSTER_CONDITIONS.leaseStopped, now);
  const silent = { ...cluster, status: { ...cluster.status, conditions } };
  const taints = planTaints(silent);
  return withHealthTaints(taints === undefined ? silent : withTaints(silent, taints));
}

function withTaints(cluster: ManagedCluster, taints: readonly Taint[]): ManagedCluster {
  return { ...cluster, spec: { ...cluster.spec, taints } };
}

function wantedKey(cluster: ManagedCluster): string | undefined {
  switch (findCondition(cluster.status?.conditions, AVAILABLE)?.status) {
    case 'True':
      return undefined;
    case 'False':
      return UNAVAILABLE_TAINT;
    case 'Unknown':
    case undefined:
      return UNREACHABLE_TAINT;
  }
}
