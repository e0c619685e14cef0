import type { Bitset } from '../../snapshot/bitset.ts';
import type { OwnDecisions } from '../prior/own-decisions.ts';
import type { ScheduleResult } from '../result/schedule-result.ts';
import type { KeptScores } from '../prioritize/score-clusters.ts';
import type { CompiledPlacement } from '../index/scheduling-index.ts';
import type { Standing } from './standing.ts';

/**
 * What was decided for one placement, and from what: enough to answer every "why" without deciding again. Bits, kept
 * scores and the standing are brought up to date in place when the placement is decided again.
 */
export interface DecidedState {
  readonly compiled: CompiledPlacement;
  readonly result: ScheduleResult;
  /** The last stage that was passed: a misconfiguration ends the decision at its stage. */
  readonly stage: 'skipped' | 'none' | 'predicate' | 'taints' | 'done';
  /** Some cluster was available. */
  readonly hadAvailable: boolean;
  /** Undefined unless the taints were passed. */
  readonly feasible: Bitset | undefined;
  /** This placement's decisions of before. */
  readonly prior: OwnDecisions;
  readonly kept: KeptScores;
  /** Selected clusters in rank order. */
  readonly selected: Uint32Array;
  /** The clusters that the decision records; differs from `selected` when the groups are misconfigured. */
  readonly recorded: OwnDecisions;
  /** All feasible clusters in rank order; absent where the next decision has to rank them again anyway. */
  readonly standing?: Standing | undefined;
  /** How long the journal of decision counts was at the last look; undefined: the counts are others by now. */
  journalLength: number | undefined;
}
