import type { WaveReading, WavesRequest } from '../../src/core/argocd/waves/served-waves.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ClusterDecision } from '@berth/ocm/kind/placement-decision';

/** Annotation of a Placement: `allow` lets its ApplicationSets get an empty list. */
export const ON_EMPTY_ANNOTATION = 'berth.dev/on-empty';

/** The data of the endpoint, all in memory: published decisions and facts about their clusters. */
export interface PluginSource {
  /** Why requests cannot be answered now (not yet read, stale); undefined if they can. */
  problem(): string | undefined;
  /**
   * @param placement `namespace/name`
   * @returns undefined if nothing is published for it
   */
  placement(placement: string): PluginPlacement | undefined;
  cluster(name: string): ManagedCluster | undefined;
  /** The scores that add-ons report for the cluster. */
  scores(cluster: string): readonly AddOnScore[];
  /** Whether the cluster is known and belongs to one of the sets. */
  isInSets(cluster: string, sets: ReadonlySet<string>): boolean;
  /** The recorded waves of an ApplicationSet. The same map means unchanged waves. */
  waves(request: WavesRequest): WaveReading;
  /** The same number means that the results of `cluster`, `scores` and `isInSets` are unchanged. */
  revision(): number;
}

export interface AddOnScore {
  /** The name of the AddOnPlacementScore. */
  readonly resource: string;
  readonly name: string;
  /** −100 to 100. */
  readonly value: number;
}

export interface PluginPlacement {
  /** The same list means that the same decision is published. */
  readonly groups: readonly {
    readonly name: string;
    readonly index: number;
    readonly decisions: readonly ClusterDecision[];
  }[];
  /** Identifies the published decision, for example in a label of the Application. */
  readonly decisionId: string;
  /** The commit at which the placement's source was last read; '' without a source, or while it is unknown. */
  readonly commit: string;
  /** Whether the placement allows an empty response (`berth.dev/on-empty: allow`). */
  readonly emptyAllowed: boolean;
}
