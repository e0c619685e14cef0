import type { ManagedCluster } from '../model/managed-cluster.ts';
import type { World } from '../snapshot/world.ts';
import type { DecidedPlacement } from './cluster-verdict.ts';
import type { ClusterVerdict } from './explanation.ts';
import type { WorldChange } from './world-change.ts';

/** A refused pair, and the ways to try what would flip it. */
export interface SuggestionSubject {
  readonly world: World;
  readonly decided: DecidedPlacement;
  readonly cluster: ManagedCluster;
  readonly verdict: ClusterVerdict;
  /** Clusters that have the placement now: whoever of them is gone afterwards is evicted. */
  readonly before: readonly string[];
  /** Schedules a world with one placement. */
  readonly decide: (world: World) => DecidedPlacement | undefined;
  /** Whom the placement would select on the whole fleet after changes of it, with this numberOfClusters. */
  readonly redecide: (
    changes: readonly WorldChange[],
    numberOfClusters: number | undefined,
  ) => readonly string[];
}
