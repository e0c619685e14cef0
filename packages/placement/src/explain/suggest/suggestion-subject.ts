import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Snapshot } from '../../snapshot/snapshot.ts';
import type { DecidedPlacement } from '../verdict/cluster-verdict.ts';
import type { ClusterVerdict } from '../verdict/explanation.ts';

/** A refused placement and cluster, and functions to try changes on them. */
export interface SuggestionSubject {
  readonly snapshot: Snapshot;
  readonly decided: DecidedPlacement;
  readonly cluster: ManagedCluster;
  readonly verdict: ClusterVerdict;
  /** Clusters that are selected now; those that a change deselects are reported as evicted. */
  readonly before: readonly string[];
}
