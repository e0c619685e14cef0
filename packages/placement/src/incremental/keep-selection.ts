import { hasBit } from '../snapshot/bitset.ts';
import type { DecidedState } from '../decide/decided-state.ts';
import { sameDecisions } from '../prior/own-decisions.ts';
import type { DecisionIndex } from '../prior/decision-index.ts';
import { scoreGainSinceCached } from '../prioritize/score-clusters.ts';

/** At most this many changed clusters are checked one by one. */
const FEW_CHANGED = 64;

/** Whether the requested number of clusters is the same as at the last decision. */
export function isCountUnchanged({ result, compiled }: DecidedState): boolean {
  return result.placement === compiled.placement;
}

/** Whether nothing that this decision depends on has changed, apart from clusters. */
export function isDecisionCurrent(state: DecidedState, decisionIndex: DecisionIndex): boolean {
  const { prior, kept, compiled, countLogLength } = state;
  return (
    isCountUnchanged(state) &&
    sameDecisions(prior, decisionIndex.own(compiled.key)) &&
    (kept.size === 0 || decisionIndex.countLog.length === countLogLength)
  );
}

/**
 * Whether the only changes since the last decision are decisions of other placements that do not
 * affect this selection. They do not affect it if no feasible cluster got a better score and no
 * selected cluster got a worse one. Most decisions of other placements are of this kind. A cluster
 * that is not selected and got a worse score keeps its old place in the ranking until the placement
 * is decided again for another reason, see `isRankingStale`. The caller checks that the largest
 * count is unchanged.
 */
export function isSelectionUnaffected(state: DecidedState, decisionIndex: DecisionIndex): boolean {
  const { compiled, feasible, kept, prior, recorded, ranking, countLogLength } = state;
  const { policy, key } = compiled;
  if (!policy.ok || feasible === undefined || ranking === undefined || countLogLength === undefined)
    return false;
  if (!isCountUnchanged(state)) return false;
  if (!sameDecisions(prior, decisionIndex.own(key))) return false;
  if (kept.size === 0) return true;
  const since = decisionIndex.countLog.since(countLogLength, FEW_CHANGED);
  if (since === undefined) return false;
  const { most } = ranking.basis;
  for (const cluster of since) {
    if (!hasBit(feasible, cluster)) continue;
    const count = (decisionIndex.counts[cluster] as number) - (hasBit(prior.bits, cluster) ? 1 : 0);
    const gain = scoreGainSinceCached(policy.prioritizers, kept, { cluster, count, most });
    if (gain > 0 || (gain < 0 && hasBit(recorded.bits, cluster))) return false;
  }
  return true;
}

/** Whether the ranking and the cached scores may be older than the last decision. */
export function isRankingStale({ ranking, countLogLength }: DecidedState): boolean {
  return ranking !== undefined && ranking.basis.countLogLength !== countLogLength;
}
