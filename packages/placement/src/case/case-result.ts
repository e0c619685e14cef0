import type { Condition } from '@berth/kube/model/object-meta';
import type { DecisionGroupStatus } from '@berth/ocm/kind/placement';

/**
 * One decision in the form that `berth simulate` prints and that tests compare with recorded
 * results. It is plain JSON. Lists of clusters are sorted by name, except `selected`, which is in
 * rank order.
 */
export interface CaseResult {
  /** `namespace/name` */
  readonly placement: string;
  /**
   * False if the placement was skipped, because it is deleted or its scheduling is disabled. Then
   * all other fields are empty.
   */
  readonly scheduled: boolean;
  readonly code: '' | 'Success' | 'Warning' | 'Error' | 'Misconfigured';
  readonly plugin: string;
  readonly message: string;
  readonly eligibleClusterSets: readonly string[];
  readonly available: readonly string[];
  /**
   * The clusters after each filter. The names add up: "Predicate", then
   * "Predicate,TaintToleration".
   */
  readonly filters: readonly { readonly name: string; readonly filteredClusters: readonly string[] }[];
  readonly prioritizers: readonly {
    readonly name: string;
    readonly weight: number;
    readonly scores: Readonly<Record<string, number>>;
  }[];
  /** Total score by cluster. */
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
