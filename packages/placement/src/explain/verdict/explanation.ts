import type { Taint } from '@berth/ocm/kind/managed-cluster';
import type { SpreadConstraint, Toleration } from '@berth/ocm/kind/placement';
import type { ScoreOrigin } from '../../prioritize/prioritizer.ts';
import type { ScheduleResult } from '../../result/schedule-result.ts';
import type { PlacementRef, SnapshotChange } from '../snapshot/snapshot-change.ts';

/**
 * Why a placement decided as it did, as data: the CLI, the API, the UI and previews render this
 * type. It contains no text that a reader would have to parse (`describePlacement` writes the
 * text).
 */

/** One placement and one cluster. */
export interface PairExplanation {
  readonly placement: PlacementRef;
  readonly cluster: string;
  readonly selected: boolean;
  readonly verdict: ClusterVerdict;
  /** Taints of the cluster that this placement tolerates or ignores; refusing ones are in the verdict. */
  readonly toleratedTaints: readonly TaintFinding[];
  /** For a cluster that is not selected: what would select it, the smallest first. */
  readonly suggestions: readonly Suggestion[];
  /** For a misconfigured placement: what to write instead. */
  readonly hints: readonly string[];
  /** The wave of the cluster, for each ApplicationSet that takes the placement in waves; absent without a hub. */
  readonly waves?: readonly ClusterWaveFinding[] | undefined;
  /** Absent: no change of the placement is held. */
  readonly held?: HoldFinding | undefined;
}

/** A change of a placement that is not published. */
export interface HoldFinding {
  /** Reason of the condition. */
  readonly reason: string;
  /** Why it is held, and what the user can do. */
  readonly message: string;
  readonly published: readonly string[];
  readonly wanted: readonly string[];
}

/** The waves in which one ApplicationSet takes the clusters of a placement. */
export interface WavesExplanation {
  /** `namespace/name` */
  readonly applicationSet: string;
  /** All waves, including empty ones; empty if unknown. */
  readonly waves: readonly WaveExplanation[];
  /** Why the waves are unknown, as a sentence. */
  readonly problem: string | undefined;
}

export interface WaveExplanation {
  /** From 0. */
  readonly wave: number;
  /** Whether a cluster that joins the wave now is served at once. */
  readonly isOpen: boolean;
  /** Why it is not open, as a sentence. */
  readonly why: string | undefined;
  /** Clusters that the plugin generator returns, sorted. */
  readonly served: readonly string[];
  /** Clusters of the decision that it does not return yet, sorted. */
  readonly waiting: readonly string[];
}

export interface ClusterWaveFinding {
  /** `namespace/name` */
  readonly applicationSet: string;
  /** From 0. */
  readonly wave: number;
  readonly isServed: boolean;
  /** Why it is not served, as a sentence. */
  readonly why: string | undefined;
}

/** Why the cluster is selected or not: the first stage that decided. */
export type ClusterVerdict =
  | { readonly kind: 'selected'; readonly score: ScoreFinding }
  | { readonly kind: 'skipped'; readonly why: 'being-deleted' | 'scheduling-disabled' | 'decided-by-others' }
  | { readonly kind: 'no-such-cluster' }
  | { readonly kind: 'cluster-being-deleted' }
  | {
      readonly kind: 'not-in-eligible-set';
      /** Sets that contain the cluster. */
      readonly memberOf: readonly string[];
      /** Sets bound to the placement's namespace. */
      readonly bound: readonly string[];
      /** `spec.clusterSets`; empty: every bound set. */
      readonly wanted: readonly string[];
      /** The eligible sets: bound and selected by `spec.clusterSets`. */
      readonly eligible: readonly string[];
    }
  | { readonly kind: 'misconfigured'; readonly plugin: string; readonly message: string }
  | { readonly kind: 'predicate'; readonly predicates: readonly PredicateFinding[] }
  | { readonly kind: 'tainted'; readonly taints: readonly TaintFinding[] }
  | { readonly kind: 'spread'; readonly score: ScoreFinding; readonly constraint: SpreadConstraint }
  | {
      readonly kind: 'outranked';
      readonly score: ScoreFinding;
      readonly numberOfClusters: number;
      /** The selected cluster with the lowest rank; absent when numberOfClusters is 0. */
      readonly lastSelected: { readonly cluster: string; readonly total: number } | undefined;
    };

/** One predicate (they are ORed) and every part of it that this cluster fails (they are ANDed). */
export interface PredicateFinding {
  readonly predicate: number;
  readonly failures: readonly PredicateFailure[];
}

export type PredicateFailure =
  | {
      readonly part: 'label' | 'claim';
      readonly key: string;
      readonly operator: string;
      readonly values: readonly string[];
      /** What the cluster has; absent when it has nothing under this key. */
      readonly actual: string | undefined;
    }
  | {
      readonly part: 'cel';
      readonly expression: string;
      /** Why the result was neither true nor false; absent: it was false. */
      readonly failure: string | undefined;
    };

export interface TaintFinding {
  readonly taint: Taint;
  readonly verdict: 'tolerated' | 'prefer-only' | 'already-decided' | 'refused' | 'expired';
  /** How long the taint has been there. */
  readonly ageSeconds: number | undefined;
  /** The toleration that tolerates it, or that ran out. */
  readonly toleration: Toleration | undefined;
  /** RFC 3339: when the toleration runs out, or ran out. */
  readonly until: string | undefined;
}

export interface ScoreFinding {
  /** From 1, among the clusters that passed all filters. */
  readonly rank: number;
  readonly of: number;
  readonly total: number;
  readonly parts: readonly ScorePart[];
}

/** `points` = score × weight. */
export interface ScorePart {
  readonly prioritizer: string;
  readonly weight: number;
  readonly score: number;
  readonly points: number;
  /** For an add-on score: whether it is valid, or which value is used instead. */
  readonly origin?: ScoreOrigin;
}

/** Changes that together select the cluster, and the clusters that they deselect. */
export interface Suggestion {
  readonly changes: readonly SnapshotChange[];
  readonly evicts: readonly string[];
}

/** A whole placement. */
export interface PlacementExplanation {
  readonly placement: PlacementRef;
  readonly outcome: ScheduleResult['outcome'];
  /** Wire text: of the misconfiguration, else of the condition PlacementSatisfied. */
  readonly message: string;
  /** Names in the placement that do not exist, and similar existing names. */
  readonly hints: readonly string[];
  /** One line, `3 of 40 clusters selected; 25 lack label tier=gold, 9 tainted maintenance, 3 outranked`. */
  readonly summary: string;
  readonly counts: {
    readonly clusters: number;
    readonly available: number;
    readonly afterPredicates: number;
    readonly afterTaints: number;
    readonly selected: number;
    /** Absent: every matching cluster. */
    readonly wanted: number | undefined;
  };
  readonly eligibleSets: readonly string[];
  readonly prioritizers: readonly { readonly name: string; readonly weight: number }[];
  readonly selected: readonly SelectedCluster[];
  /** The clusters after the selected ones that passed all filters, best first, at most MAX_NEXT_CLUSTERS. */
  readonly next: readonly NextCluster[];
  /** Why clusters were not selected, the most frequent reason first. */
  readonly refusals: readonly RefusalGroup[];
  /** Compared with the previous decisions; absent when none were recorded. */
  readonly changes: DecisionChanges | undefined;
  /** Of a placement that another controller decides: the clusters that it published. Berth predicts nothing then. */
  readonly publishedByOthers?: readonly string[] | undefined;
  /** RFC 3339: when a toleration runs out and the placement is decided again. */
  readonly reschedulesAt: string | undefined;
  /** For each ApplicationSet that takes the placement in waves; absent without a hub. */
  readonly waves?: readonly WavesExplanation[] | undefined;
  /** Absent: no change of the placement is held. */
  readonly held?: HoldFinding | undefined;
}

export interface SelectedCluster {
  readonly cluster: string;
  readonly score: ScoreFinding;
}

export interface NextCluster extends SelectedCluster {
  /** The spread constraint that excluded it; absent if its rank did. */
  readonly constraint?: SpreadConstraint | undefined;
}

export interface RefusalGroup {
  readonly reason: Exclude<ClusterVerdict['kind'], 'selected'>;
  /** `lack label tier=gold` */
  readonly text: string;
  readonly count: number;
  /** Names, at most MAX_NAMED_CLUSTERS: first those that the placement lost, then the others; each part sorted. */
  readonly clusters: readonly string[];
  /** What would select the first of them: tried, the smallest. Only for refusals by a filter. */
  readonly flip?: Suggestion | undefined;
}

export const MAX_NAMED_CLUSTERS = 10;

export const MAX_NEXT_CLUSTERS = 5;

/** What moved since the last decision. */
export interface DecisionChanges {
  readonly gained: readonly DecisionChange[];
  readonly lost: readonly DecisionChange[];
}

export interface DecisionChange {
  readonly cluster: string;
  /** `tainted maintenance`, `rank 2 of 3` */
  readonly because: string;
  /** The objects whose change caused it, `ManagedCluster cluster1`; empty when the earlier snapshot is not known. */
  readonly causes: readonly string[];
  /** Its points now; absent where it is not scored. */
  readonly points?: number | undefined;
}
