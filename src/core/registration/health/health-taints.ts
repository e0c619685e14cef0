import type { ManagedCluster, Taint } from '@berth/ocm/kind/managed-cluster';
import { findCondition } from '@berth/kube/model/condition-list';
import { AVAILABLE } from '@berth/ocm/registration/cluster-conditions';
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
