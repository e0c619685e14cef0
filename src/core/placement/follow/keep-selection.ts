import { hasBit } from '../../snapshot/bitset.ts';
import type { DecidedState } from '../decide/decided-state.ts';
import type { DecisionIndex } from '../prior/decision-index.ts';
import { sameDecisions } from '../prior/own-decisions.ts';
import { scoreGainSinceCached } from '../prioritize/score-clusters.ts';

/** So many changed clusters are looked at one by one. */
const FEW_CHANGED = 64;

/** Whether the placement asks for as many clusters as when it was decided. */
export function isDecidedAsAsked({ result, compiled }: DecidedState): boolean {
  return result.placement === compiled.placement;
}

/** Whether nothing has happened that this decision depends on, clusters apart. */
export function isDecisionCurrent(state: DecidedState, decisionIndex: DecisionIndex): boolean {
  const { prior, kept, compiled, journalLength } = state;
  return (
    isDecidedAsAsked(state) &&
    sameDecisions(prior, decisionIndex.own(compiled.key)) &&
    (kept.size === 0 || decisionIndex.journal.length === journalLength)
  );
}

/**
 * Whether nothing has happened since the last look but that others decided on clusters which are not selected here, and that made none
 * of them better, as most decisions of others do. A worse score of such a cluster changes no selection, so its place in the ranking is
 * brought up to date only when something else happens to the placement: see `lags`. The largest count must be as it was.
 */
export function isSelectionUnaffected(state: DecidedState, decisionIndex: DecisionIndex): boolean {
  const { compiled, feasible, kept, prior, recorded, ranking, journalLength } = state;
  const { policy, key } = compiled;
  if (!policy.ok || feasible === undefined || ranking === undefined || journalLength === undefined)
    return false;
  if (!isDecidedAsAsked(state)) return false;
  if (!sameDecisions(prior, decisionIndex.own(key))) return false;
  if (kept.size === 0) return true;
  const since = decisionIndex.journal.since(journalLength, FEW_CHANGED);
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

/** Whether clusters may be elsewhere than the ranking says, and their kept scores be older. */
export function isRankingBehind({ ranking, journalLength }: DecidedState): boolean {
  return ranking !== undefined && ranking.basis.journalLength !== journalLength;
}
