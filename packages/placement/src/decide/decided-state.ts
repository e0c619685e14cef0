import type { Bitset } from '../snapshot/bitset.ts';
import type { OwnDecisions } from '../prior/own-decisions.ts';
import type { ScheduleResult } from '../result/schedule-result.ts';
import type { CachedScores } from '../prioritize/score-clusters.ts';
import type { CompiledPlacement } from '../index/scheduling-index.ts';
import type { ClusterRanking } from './cluster-ranking.ts';

/**
 * The decision of one placement and its inputs. This is enough to explain the decision without
 * making it again. When the placement is decided again, bits, cached scores and the ranking are
 * updated in place.
 */
export interface DecidedState {
  readonly compiled: CompiledPlacement;
  readonly result: ScheduleResult;
  /** The last completed stage. A misconfiguration ends the decision at its stage. */
  readonly stage: 'skipped' | 'none' | 'predicate' | 'taints' | 'done';
  /** Whether at least one cluster was available. */
  readonly hadAvailable: boolean;
  /** Undefined unless the taint stage was completed. */
  readonly feasible: Bitset | undefined;
  /** This placement's previous decisions. */
  readonly prior: OwnDecisions;
  readonly kept: CachedScores;
  /** Selected clusters in rank order. */
  readonly selected: Uint32Array;
  /**
   * The clusters that the decision records. They differ from `selected` if the groups are
   * misconfigured.
   */
  readonly recorded: OwnDecisions;
  /**
   * All feasible clusters in rank order. Undefined if the next decision has to rank them again
   * anyway.
   */
  readonly ranking?: ClusterRanking | undefined;
  /**
   * The length of the log of decision counts at the last decision. Undefined if the counts were
   * replaced after it.
   */
  countLogLength: number | undefined;
}
