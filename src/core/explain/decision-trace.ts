import type { ManagedCluster, Taint } from '../model/managed-cluster.ts';
import type { SpreadConstraint, Toleration } from '../model/placement.ts';
import type { Requirement } from '../model/label-selector-requirement.ts';

/** What explanations ask of the engine about one placement. Clusters are named; nothing here is text. */
export interface DecisionTrace {
  readonly eligibleSets: readonly string[];
  readonly validBindings: readonly string[];
  readonly prioritizers: readonly { readonly name: string; readonly weight: number }[];
  setsOf(cluster: string): readonly string[];
  isAvailable(cluster: string): boolean;
  passesPredicate(cluster: string): boolean;
  passesTaints(cluster: string): boolean;
  available(): readonly string[];
  afterPredicate(): readonly string[];
  afterTaints(): readonly string[];
  predicateFailures(cluster: string): readonly (readonly TraceFailure[])[];
  taintVerdicts(cluster: string): readonly TraceTaint[];
  score(cluster: string): TraceScore | undefined;
  rank(cluster: string): number | undefined;
  spreadRefusal(cluster: string): SpreadConstraint | undefined;
  whatIf(change: WhatIf): {
    readonly selected: readonly string[];
    total(cluster: string): number | undefined;
  };
}

export interface TraceFailure {
  readonly predicate: number;
  readonly part: 'label' | 'claim' | 'cel';
  readonly requirement?: Requirement | undefined;
  readonly actual?: string | undefined;
  readonly expression?: string | undefined;
  readonly failure?: string | undefined;
}

export interface TraceTaint {
  readonly taint: Taint;
  readonly verdict: 'tolerated' | 'prefer-only' | 'already-decided' | 'refused' | 'expired';
  readonly toleration?: Toleration | undefined;
  readonly untilMs?: number | undefined;
}

export interface TraceScore {
  readonly total: number;
  readonly parts: readonly { readonly name: string; readonly weight: number; readonly score: number }[];
}

export interface WhatIf {
  /** Takes part with these labels, claims and resources, whether it passes the filters or not. */
  readonly include?: ManagedCluster | undefined;
  readonly numberOfClusters?: number | undefined;
  /** Instead of the recorded score of `include`. */
  readonly addOnScore?:
    | { readonly resourceName: string; readonly scoreName: string; readonly value: number }
    | undefined;
}
