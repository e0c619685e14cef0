import type { AddOnPlacementScore } from '../../model/kind/addon-placement-score.ts';
import { celProblemText } from '../../cel/value/cel-problem.ts';
import { compileClusterCel } from '../../cel/cluster-cel.ts';
import type { ManagedCluster } from '../../model/kind/managed-cluster.ts';

/** Compiles one expression of a celSelector. The engine calls it once per distinct text. */
export type CompileCel = (expression: string) => CelCompilation;

export type CelCompilation =
  | { readonly ok: true; readonly evaluate: CelEvaluation }
  | { readonly ok: false; readonly error: string };

/** The AddOnPlacementScore of that name in the cluster's namespace. */
export type FindScore = (name: string) => AddOnPlacementScore | undefined;

/** Whether the expression is true for a cluster, and what that cost. Never throws: a failure is "not matched". */
export type CelEvaluation = (
  cluster: ManagedCluster,
  findScore: FindScore,
) => { readonly matched: boolean; readonly cost: number; readonly failure?: string | undefined };

/** The CEL of core/cel with the Kubernetes libraries and limits. */
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
