import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { traverseCost } from '@berth/kube-cel/value/cel-cost';
import type { CelProblem } from '@berth/kube-cel/value/cel-problem';
import { DYN } from '@berth/kube-cel/value/cel-type';
import type { CelResult, CelValue } from '@berth/kube-cel/value/cel-value';
import { CelFailure, celTypeName, lift } from '@berth/kube-cel/value/cel-value';
import { CLUSTER_SCORES, clusterView, type ScoresOfCluster } from './cluster-view.ts';
import { type CelProgram, compileCel } from '@berth/kube-cel/compile-cel';
import { KUBERNETES_CEL } from '@berth/kube-cel/kubernetes-environment';
import { overload } from '@berth/kube-cel/value/overload';

/** Expressions of a placement's celSelector: variable `managedCluster`, functions `scores` and `parseJSON`. */
export interface ClusterCel {
  readonly expression: string;
  /** The same cluster object and scores always give the same outcome: callers may cache it. */
  evaluate(cluster: ManagedCluster, scores: ScoresOfCluster): ClusterCelOutcome;
}

export interface ClusterCelOutcome {
  /**
   * Whether the expression was true. An error, a result of another type and an exceeded limit count
   * as false.
   */
  readonly matched: boolean;
  readonly cost: number;
  /** Why the result was neither true nor false. */
  readonly failure?: string | undefined;
}

export type ClusterCelCompilation =
  | { readonly ok: true; readonly program: ClusterCel }
  | { readonly ok: false; readonly problem: CelProblem };

const ENVIRONMENT = KUBERNETES_CEL.withVariables({ managedCluster: DYN })
  .withMixedLiterals()
  .withFunctions([
    overload('dyn.scores(string): list<dyn>', scoresOf),
    overload('string.parseJSON(): dyn', parseJson, traverseCost),
  ]);

export function compileClusterCel(expression: string): ClusterCelCompilation {
  const compiled = compileCel(expression, ENVIRONMENT);
  if (!compiled.ok) return compiled;
  const { program } = compiled;
  return {
    ok: true,
    program: { expression, evaluate: (cluster, scores) => evaluate(program, cluster, scores) },
  };
}

function evaluate(program: CelProgram, cluster: ManagedCluster, scores: ScoresOfCluster): ClusterCelOutcome {
  const outcome = program.evaluate({ managedCluster: clusterView(cluster, scores) });
  if (!outcome.ok) return { matched: false, cost: outcome.cost, failure: outcome.message };
  if (typeof outcome.value === 'boolean') return { matched: outcome.value, cost: outcome.cost };
  const failure = `the result is a ${celTypeName(outcome.value)}, not a bool`;
  return { matched: false, cost: outcome.cost, failure };
}

function scoresOf(cluster: CelValue, resourceName: string): CelResult {
  const scores = (cluster as { readonly [CLUSTER_SCORES]?: ScoresOfCluster } | null)?.[CLUSTER_SCORES];
  if (scores === undefined)
    return new CelFailure('no such overload: scores() is a function of managedCluster');
  const found = scores(resourceName);
  if (found === undefined)
    return new CelFailure(
      `failed to get score: AddOnPlacementScore ${JSON.stringify(resourceName)} not found`,
    );
  return found.map(({ name, value }) => ({ name, value }));
}

function parseJson(text: string): CelResult {
  try {
    return lift(JSON.parse(text));
  } catch (error) {
    return new CelFailure(`failed to parse JSON: ${error instanceof Error ? error.message : 'syntax error'}`);
  }
}
