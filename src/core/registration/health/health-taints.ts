import type { ManagedCluster, Taint } from '../../model/kind/managed-cluster.ts';
import { findCondition } from '../../work/conditions/condition-list.ts';
import { AVAILABLE } from '../cluster-conditions.ts';
import { UNAVAILABLE_TAINT, UNREACHABLE_TAINT } from '../names.ts';

const OWN_KEYS: readonly string[] = [UNREACHABLE_TAINT, UNAVAILABLE_TAINT];

/** Whether the taint is one that the hub sets and removes by the health of the cluster. Those of users have other keys, values or effects. */
export function isHealthTaint({ key, value, effect }: Taint): boolean {
  return OWN_KEYS.includes(key) && (value ?? '') === '' && effect === 'NoSelect';
}

/**
 * The taints that a cluster should have: those of users as they are, and the one of its health. Undefined: it has them. A new taint
 * carries no time: the API server's admission sets it, and refuses any that is sent.
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

/** The same taints with a time where the hub gave none: there, no admission does it. Undefined: each has one. */
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
