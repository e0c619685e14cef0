import type { Requirement, LabelMap } from '../../model/selector/label-selector-requirement.ts';
import { matchesRequirement } from '../../model/selector/label-selector-requirement.ts';
import type { ClusterIndex } from '../../snapshot/cluster-index.ts';
import { claimMapOf } from '../../snapshot/cluster-index.ts';
import { scoreFinderFor } from '../filter/cluster-selector.ts';
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
    ...selector.cel.flatMap(({ text, evaluate }): TraceFailure[] => {
      const { matched, failure } = evaluate(cluster, scoreFinderFor(clusterIndex, number));
      return matched ? [] : [{ predicate: at, part: 'cel', expression: text, failure }];
    }),
  ]);
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
