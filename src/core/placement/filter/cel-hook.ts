import type { AddOnPlacementScore } from '../../model/kind/addon-placement-score.ts';
import { celProblemText } from '../../cel/value/cel-problem.ts';
import { compileClusterCel } from '../../cel/cluster-cel.ts';
import type { ManagedCluster } from '../../model/kind/managed-cluster.ts';

/** Compiles one expression of a celSelector. The engine calls it once for each distinct text. */
export type CompileCel = (expression: string) => CelCompilation;

export type CelCompilation =
  | { readonly ok: true; readonly evaluate: CelEvaluation }
  | { readonly ok: false; readonly error: string };

/** Finds the AddOnPlacementScore with this name in the namespace of the cluster. */
export type FindScore = (name: string) => AddOnPlacementScore | undefined;

/**
 * Evaluates the expression for a cluster and returns whether it is true and what the evaluation
 * cost. It never throws. A failed evaluation counts as not matched.
 */
export type CelEvaluation = (
  cluster: ManagedCluster,
  findScore: FindScore,
) => { readonly matched: boolean; readonly cost: number; readonly failure?: string | undefined };

/** Compiles with core/cel, with the libraries and limits of Kubernetes. */
export const compileCel: CompileCel = (expression) => {
  const compiled = compileClusterCel(expression);
  if (!compiled.ok) return { ok: false, error: celProblemText(compiled.problem) };
  return {
    ok: true,
    evaluate: (cluster, findScore) =>
      compiled.program.evaluate(cluster, (name) => {
        const found = findScore(name);
        return found === undefined ? undefined : (found.status?.scores ?? []);
      }),
  };
};

/** Compiles each text once. */
export function memoizeCel(compileCel: CompileCel): CompileCel {
  const compiled = new Map<string, CelCompilation>();
  return (expression) => {
    const known = compiled.get(expression) ?? compileCel(expression);
    compiled.set(expression, known);
    return known;
  };
}
