import type { Condition } from '../../model/object-meta.ts';
import type { DecisionGroupStatus } from '../../model/kind/placement.ts';

/**
 * The outside shape of one decision, as `berth simulate` prints it and as recorded answers are compared.
 * Everything is plain JSON; lists of clusters are sorted by name, except `selected` (rank order).
 */
export interface CaseResult {
  /** `namespace/name` */
  readonly placement: string;
  /** False: skipped (deleted or scheduling disabled); nothing else is meaningful. */
  readonly scheduled: boolean;
  readonly code: '' | 'Success' | 'Warning' | 'Error' | 'Misconfigured';
  readonly plugin: string;
  readonly message: string;
  readonly eligibleClusterSets: readonly string[];
  readonly available: readonly string[];
  /** Cumulative: "Predicate", then "Predicate,TaintToleration". */
  readonly filters: readonly { readonly name: string; readonly filteredClusters: readonly string[] }[];
  readonly prioritizers: readonly {
    readonly name: string;
    readonly weight: number;
    readonly scores: Readonly<Record<string, number>>;
  }[];
  /** Total by cluster. */
  readonly scores: Readonly<Record<string, number>>;
  readonly selected: readonly string[];
  readonly unscheduled: number;
  /** RFC 3339, whole seconds. */
  readonly requeueAt: string | null;
  readonly placementDecisions: readonly CaseDecision[];
  readonly numberOfSelectedClusters: number;
  readonly decisionGroups: readonly DecisionGroupStatus[];
  readonly conditions: readonly Condition[];
}

export interface CaseDecision {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly decisions: readonly string[];
}
