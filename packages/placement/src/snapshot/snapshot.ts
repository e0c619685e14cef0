import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import type { ManagedClusterSet, ManagedClusterSetBinding } from '@berth/ocm/kind/managed-cluster-set';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import type { Placement } from '@berth/ocm/kind/placement';

/**
 * Everything a placement decision may depend on, as plain objects in any order; nothing else may influence a result.
 * Placements are scheduled in the listed order: each one's new decisions replace its old ones before the next.
 */
export interface Snapshot {
  /** The current time, RFC 3339. */
  readonly now: string;
  readonly placements: readonly Placement[];
  readonly clusters: readonly ManagedCluster[];
  readonly clusterSets: readonly ManagedClusterSet[];
  readonly bindings: readonly ManagedClusterSetBinding[];
  /** The previous decisions, which Steady, Balance and NoSelectIfNew read. */
  readonly decisions: readonly PlacementDecision[];
  readonly scores: readonly AddOnPlacementScore[];
  /**
   * By `namespace/name`: clusters that stay published for a placement because its result is held or
   * published in steps. Later placements count these instead of its result. Absent: none.
   */
  readonly held?: Readonly<Record<string, readonly string[]>> | undefined;
}
