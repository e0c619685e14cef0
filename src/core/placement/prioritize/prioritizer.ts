import type { AddOnPlacementScore } from '../../model/kind/addon-placement-score.ts';
import type { Instant } from '../../model/rfc3339.ts';
import type { Bitset } from '../../snapshot/bitset.ts';
import type { ResourceName } from '../../snapshot/cluster-index.ts';
import type { MissingScores } from './missing-scores.ts';

/** What a prioritizer may look at. Clusters are numbers, ascending in the order of their names. */
export interface ScoreInput {
  /** The clusters to score: the feasible ones. */
  readonly clusters: Uint32Array;
  readonly nameOf: (cluster: number) => string;
  /** Per cluster of the fleet; NaN when the cluster does not report it. */
  readonly amounts: (resource: ResourceName) => Float64Array;
  readonly addOnScore: (cluster: number, resourceName: string) => AddOnPlacementScore | undefined;
  /** This placement's previous decisions. */
  readonly decided: Bitset;
  /** How often each cluster is decided, by this placement as well if it is in `makeOwnDecisions`. */
  readonly decisionCounts: Int32Array;
  readonly ownDecisions: Bitset;
  /** The largest count of decisions of other placements over all clusters. */
  readonly mostDecisions: number;
  readonly now: Instant;
}

/** Where the score of a cluster comes from that an add-on reports, or what counts instead and by which rule. */
export type ScoreOrigin =
  | { readonly kind: 'valid'; readonly validUntil?: string }
  | {
      readonly kind: 'expired';
      readonly rule: MissingScores;
      readonly reported: number;
      /** RFC 3339 */
      readonly validUntil?: string;
    }
  /** The cluster has no AddOnPlacementScore of the name, or one without the score. */
  | { readonly kind: 'no-object' | 'no-value'; readonly rule: MissingScores };

/** The least and the most of an amount over all clusters that are scored. */
export interface AmountRange {
  readonly least: number;
  readonly most: number;
}

/** Of no clusters, or of a prioritizer that reads no amounts. */
export const EMPTY_RANGE: AmountRange = { least: Infinity, most: -Infinity };

/** One way to score clusters. To add one: a file like its neighbours, and a line in the registry. */
export interface Prioritizer {
  /** `Balance`, `AddOn/<resource>/<score>` … */
  readonly name: string;
  /**
   * For a prioritizer that reads the decisions of other placements, and nothing else: the score of a cluster that they selected `count`
   * times, where they selected no cluster more than `most` times. Such scores are kept, for all clusters, as they were when the
   * placement was scheduled, and must be in −128..127.
   */
  readonly countScore?: (count: number, most: number) => number;
  /** For a prioritizer that gives this score to the clusters that are decided already, and 0 to others. */
  readonly decidedScore?: number;
  /** The amounts it reads: a change of one schedules the placement again. */
  readonly resource?: ResourceName;
  /** The AddOnPlacementScores it reads. */
  readonly addOn?: string;
  /**
   * The range of amounts over all scored clusters, on which each score depends besides its own cluster. While it
   * stays the same, a change of one cluster changes the score of no other.
   */
  readonly measure?: (input: ScoreInput) => AmountRange;
  /**
   * Writes a score per entry of `input.clusters` into `out` (NaN: no score, counts as 0). Answers the
   * AddOnPlacementScores that have expired, as `namespace/name`.
   */
  readonly score: (input: ScoreInput, out: ScoreColumn, range: AmountRange) => readonly string[];
  /** For one that reads AddOnPlacementScores: why a cluster with this object has its score. */
  readonly originOf?: (object: AddOnPlacementScore | undefined, now: Instant) => ScoreOrigin;
}

/** Kept scores are bytes, others floats. */
export type ScoreColumn = Float64Array | Int8Array;

export const NO_WARNINGS: readonly string[] = [];
