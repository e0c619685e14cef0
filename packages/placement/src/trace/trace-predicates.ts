import { COST_BUDGET, COST_BUDGET_MESSAGE } from '@berth/kube-cel/value/cel-cost';
import { epochMsOf, type Instant } from '@berth/kube/model/rfc3339';
import type { Requirement, LabelMap } from '@berth/kube/model/selector/label-selector-requirement';
import { matchesRequirement } from '@berth/kube/model/selector/label-selector-requirement';
import type { ManagedCluster, Taint } from '@berth/ocm/kind/managed-cluster';
import type { Toleration } from '@berth/ocm/kind/placement';
import type { CelEvaluation } from '../filter/cel-hook.ts';
import { type CelExpression, scoreFinderFor } from '../filter/cluster-selector.ts';
import type { PredicateClass } from '../filter/predicate-class.ts';
import { judgeTaint } from '../filter/toleration-class.ts';
import { claimMapOf, type ClusterIndex } from '../snapshot/cluster-index.ts';

/** One part of a predicate that a cluster fails. */
export interface TraceFailure {
  /** The index of the predicate, from 0. */
  readonly predicate: number;
  readonly part: 'label' | 'claim' | 'cel';
  /**
   * For labels and claims: the requirement. `actual` is the value of the cluster; undefined if it
   * has none.
   */
  readonly requirement?: Requirement | undefined;
  readonly actual?: string | undefined;
  /** For CEL: the expression. `failure` says why the evaluation gave neither true nor false. */
  readonly expression?: string | undefined;
  readonly failure?: string | undefined;
}

export function predicateFailures(
  predicate: PredicateClass,
  clusterIndex: ClusterIndex,
  number: number,
): readonly (readonly TraceFailure[])[] {
  const cluster = clusterIndex.cluster(number);
  const claims = claimMapOf(cluster);
  return predicate.selectors.map((selector, at) => [
    ...requirementFailures(
      { predicate: at, part: 'label' },
      selector.labels.requirements,
      cluster.metadata.labels ?? {},
    ),
    ...requirementFailures({ predicate: at, part: 'claim' }, selector.claims.requirements, claims),
    ...celFailures({ predicate: at, part: 'cel' }, selector.cel, (evaluate) =>
      evaluate(cluster, scoreFinderFor(clusterIndex, number)),
    ),
  ]);
}

/** The expressions that are not true, and those that exceed the cost budget which all of them share. */
function celFailures(
  at: Pick<TraceFailure, 'predicate' | 'part'>,
  expressions: readonly CelExpression[],
  evaluated: (evaluate: CelEvaluation) => ReturnType<CelEvaluation>,
): TraceFailure[] {
  let total = 0;
  return expressions.flatMap(({ text, evaluate }): TraceFailure[] => {
    const { matched, cost, failure } = evaluated(evaluate);
    total += cost;
    if (!matched) return [{ ...at, expression: text, failure }];
    return total > COST_BUDGET ? [{ ...at, expression: text, failure: COST_BUDGET_MESSAGE }] : [];
  });
}

function requirementFailures(
  at: Pick<TraceFailure, 'predicate' | 'part'>,
  requirements: readonly Requirement[],
  actual: LabelMap,
): TraceFailure[] {
  return requirements
    .filter((requirement) => !matchesRequirement(requirement, actual))
    .map((requirement) => ({
      ...at,
      requirement,
      actual: Object.hasOwn(actual, requirement.key) ? actual[requirement.key] : undefined,
    }));
}

export interface TraceTaint {
  readonly taint: Taint;
  /** `expired`: a toleration matches this taint but ended at `untilMs`. */
  readonly verdict: 'tolerated' | 'prefer-only' | 'already-decided' | 'refused' | 'expired';
  readonly toleration?: Toleration | undefined;
  readonly untilMs?: number | undefined;
}

export function taintVerdicts(
  cluster: ManagedCluster,
  tolerations: readonly Toleration[],
  at: { readonly now: Instant; readonly decided: boolean },
): readonly TraceTaint[] {
  return (cluster.spec?.taints ?? []).map((taint): TraceTaint => {
    const judged = judgeTaint(taint, tolerations, at);
    if (judged.verdict !== 'tolerated' && judged.verdict !== 'expired')
      return { taint, verdict: judged.verdict };
    const { verdict, toleration, until } = judged;
    return { taint, verdict, toleration, untilMs: until === undefined ? undefined : epochMsOf(until) };
  });
}
