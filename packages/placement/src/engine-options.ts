import type { CompileCel } from './filter/cel-hook.ts';

export interface EngineOptions {
  /** Compiles CEL. Default: the one of @berth/kube-cel. */
  readonly compileCel?: CompileCel | undefined;
  /**
   * Whether the rankings of decisions are kept, so that the next change of a cluster starts from them. They take time and
   * memory, and pay where the same placements are decided again and again. Default: true.
   */
  readonly keepsRankings?: boolean | undefined;
}
