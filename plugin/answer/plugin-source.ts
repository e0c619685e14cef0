import type { WaveReading, WavesAsked } from '../../src/core/argocd/waves/served-waves.ts';
import type { ManagedCluster } from '../../src/core/model/kind/managed-cluster.ts';
import type { ClusterDecision } from '../../src/core/model/kind/placement-decision.ts';

/** The data of the endpoint, all in memory: published decisions and facts about their clusters. */
export interface PluginSource {
  /** Why requests cannot be answered now (not yet read, stale); undefined if they can. */
  problem(): string | undefined;
  /** @param placement `namespace/name`; undefined when nothing is published for it */
  placement(placement: string): PluginPlacement | undefined;
  cluster(name: string): ManagedCluster | undefined;
  /** What add-ons report of the cluster. */
  scores(cluster: string): readonly AddOnScore[];
  /** Whether the cluster is known, and a member of one of the sets. */
  isInSets(cluster: string, sets: ReadonlySet<string>): boolean;
  /** The recorded waves of an ApplicationSet. The same map means unchanged waves. */
  waves(asked: WavesAsked): WaveReading;
  /** The same number means that the results of `cluster`, `scores` and `isInSets` are unchanged. */
  revision(): number;
}

export interface AddOnScore {
  /** Name of the AddOnPlacementScore. */
  readonly resource: string;
  readonly name: string;
  /** −100 to 100. */
  readonly value: number;
}

export interface PluginPlacement {
  /** The same list as before means that the same decision is published. */
  readonly groups: readonly {
    readonly name: string;
    readonly index: number;
    readonly decisions: readonly ClusterDecision[];
  }[];
  /** Identifies the published decision, e.g. for a label on the Application. */
  readonly decisionId: string;
  /** The commit that the placement's source was last read at; '' without a source, and while it is not known. */
  readonly commit: string;
  /** The placement itself allows an empty answer (`berth.dev/on-empty: allow`). */
  readonly emptyAllowed: boolean;
}
