import type { Requirement, LabelMap } from '@berth/kube/model/selector/label-selector-requirement';
import { matchesRequirement } from '@berth/kube/model/selector/label-selector-requirement';
import type { ClusterIndex } from '../snapshot/cluster-index.ts';
import { claimMapOf } from '../snapshot/cluster-index.ts';
import { COST_BUDGET, COST_BUDGET_MESSAGE } from '@berth/kube-cel/value/cel-cost';
import type { CelEvaluation } from '../filter/cel-hook.ts';
import { type CelExpression, scoreFinderFor } from '../filter/cluster-selector.ts';
import type { PredicateClass } from '../filter/predicate-class.ts';

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
