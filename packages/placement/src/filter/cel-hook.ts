import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import { celProblemText } from '@berth/kube-cel/value/cel-problem';
import { compileClusterCel } from './cluster-cel.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';

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

/** Compiles with @berth/kube-cel, with the libraries and limits of Kubernetes. */
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
