import type { AddOnPlacementScore } from '../model/addon-placement-score.ts';
import type { ManagedCluster } from '../model/managed-cluster.ts';

/** Compiles one expression of a celSelector. The engine calls it once per distinct text. */
export type CompileCel = (expression: string) => CelCompilation;

export type CelCompilation =
  | { readonly ok: true; readonly matches: CelMatch }
  | { readonly ok: false; readonly error: string };

/**
 * Whether the expression is true for a cluster. `scores` are the AddOnPlacementScores of the cluster's namespace. Never
 * throws: a run-time failure, a result that is no bool or a spent budget all mean false.
 */
export type CelMatch = (cluster: ManagedCluster, scores: readonly AddOnPlacementScore[]) => boolean;

/** For callers without a CEL engine: every expression is an error, never silently true or false. */
export const celUnavailable: CompileCel = () => ({
  ok: false,
  error: 'compilation failed: no CEL engine was given to the scheduler',
});
