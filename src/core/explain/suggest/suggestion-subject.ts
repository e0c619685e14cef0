import type { ManagedCluster } from '../../model/kind/managed-cluster.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';
import type { DecidedPlacement } from '../verdict/cluster-verdict.ts';
import type { ClusterVerdict } from '../verdict/explanation.ts';

/** A refused pair, and the ways to try what would flip it. */
export interface SuggestionSubject {
  readonly snapshot: Snapshot;
  readonly decided: DecidedPlacement;
  readonly cluster: ManagedCluster;
  readonly verdict: ClusterVerdict;
  /** Clusters that have the placement now: those that are gone afterwards are evicted. */
  readonly before: readonly string[];
}
