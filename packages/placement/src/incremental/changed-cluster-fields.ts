import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { claimMapOf } from '../snapshot/cluster-index.ts';

/** Which parts of a cluster that placement reads differ between two states. */
export interface ChangedClusterFields {
  /** Keys of labels that were added, removed or changed. `claims` has the same for claims. */
  readonly labels: readonly string[];
  readonly claims: readonly string[];
  readonly taints: boolean;
  readonly deletion: boolean;
  /** Whether anything differs. CEL reads the whole object. */
  readonly object: boolean;
}

export function changedClusterFields(before: ManagedCluster, after: ManagedCluster): ChangedClusterFields {
  return {
    labels: changedKeys(before.metadata.labels ?? NONE, after.metadata.labels ?? NONE),
    claims:
      before.status?.clusterClaims === after.status?.clusterClaims
        ? []
        : changedKeys(claimMapOf(before), claimMapOf(after)),
    taints: JSON.stringify(before.spec?.taints ?? []) !== JSON.stringify(after.spec?.taints ?? []),
    deletion:
      (before.metadata.deletionTimestamp === undefined) !== (after.metadata.deletionTimestamp === undefined),
    object: before !== after,
  };
}

type TextMap = Readonly<Record<string, string>>;

const NONE: TextMap = {};

function changedKeys(before: TextMap, after: TextMap): string[] {
  if (before === after) return [];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].filter((key) => own(before, key) !== own(after, key));
}

function own(map: TextMap, key: string): string | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}
