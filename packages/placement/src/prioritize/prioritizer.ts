import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import type { Instant } from '@berth/kube/model/rfc3339';
import type { Bitset } from '../snapshot/bitset.ts';
import type { ResourceName } from '../snapshot/cluster-index.ts';
import type { MissingScores } from './missing-scores.ts';

/** The inputs of a prioritizer. Clusters are numbers in the order of their names. */
export interface ScoreInput {
  /** The clusters to score: the feasible ones. */
  readonly clusters: Uint32Array;
  readonly nameOf: (cluster: number) => string;
  /**
   * The amount of a resource for each cluster of the fleet; NaN if the cluster does not report it.
   */
  readonly amounts: (resource: ResourceName) => Float64Array;
  readonly addOnScore: (cluster: number, resourceName: string) => AddOnPlacementScore | undefined;
  /** The previous decisions of this placement. */
  readonly decided: Bitset;
  /**
   * How many placements select each cluster. This includes the placement itself for the clusters in
   * `ownDecisions`.
   */
  readonly decisionCounts: Int32Array;
  readonly ownDecisions: Bitset;
  /** The largest count of decisions of other placements over all clusters. */
  readonly mostDecisions: number;
  readonly now: Instant;
}

/** The origin of a score from an add-on, or the rule that replaced a missing score. */
export type ScoreOrigin =
  | { readonly kind: 'valid'; readonly validUntil?: string }
  | {
      readonly kind: 'expired';
      readonly rule: MissingScores;
      readonly reported: number;
      /** RFC 3339 */
      readonly validUntil?: string;
    }
  /** The cluster has no AddOnPlacementScore with this name, or it has one without the score. */
  | { readonly kind: 'no-object' | 'no-value'; readonly rule: MissingScores };

/** The smallest and the largest amount over all scored clusters. */
export interface AmountRange {
  readonly least: number;
  readonly most: number;
}

/** The range over no clusters, or of a prioritizer that reads no amounts. */
export const EMPTY_RANGE: AmountRange = { least: Infinity, most: -Infinity };

/**
 * One way to score clusters. To add one, add a file like the others in this folder and a line in
 * the registry.
 */
export interface Prioritizer {
  /** The name, for example `Balance` or `AddOn/<resource>/<score>`. */
  readonly name: string;
  /**
   * Set only for a prioritizer that reads the decisions of other placements and nothing else.
   * Returns the score of a cluster that `count` other placements select, if no cluster is selected
   * by more than `most` of them. These scores are cached for all clusters as of the decision. They
   * must be in −128..127.
   */
  readonly countScore?: (count: number, most: number) => number;
  /**
   * Set only for a prioritizer that gives this score to clusters that the placement already
   * selects, and 0 to all others.
   */
  readonly decidedScore?: number;
  /**
   * The resource whose amounts the prioritizer reads. A change of an amount schedules the placement
   * again.
   */
  readonly resource?: ResourceName;
  /** The name of the AddOnPlacementScores that the prioritizer reads. */
  readonly addOn?: string;
  /**
   * The range of amounts over all scored clusters. Each score depends on it and on its own cluster.
   * While the range stays the same, a change of one cluster changes no other score.
   */
  readonly measure?: (input: ScoreInput) => AmountRange;
  /**
   * Writes one score per entry of `input.clusters` into `out`. NaN means no score and counts as 0.
   * @returns the AddOnPlacementScores that have expired, as `namespace/name`
   */
  readonly score: (input: ScoreInput, out: ScoreColumn, range: AmountRange) => readonly string[];
  /**
   * Set only for a prioritizer that reads AddOnPlacementScores. Explains the score of a cluster
   * with this object.
   */
  readonly originOf?: (object: AddOnPlacementScore | undefined, now: Instant) => ScoreOrigin;
}

/** Cached scores are bytes, all others are floats. */
export type ScoreColumn = Float64Array | Int8Array;

export const NO_WARNINGS: readonly string[] = [];
