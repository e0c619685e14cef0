import { hasBit } from '../../snapshot/bitset.ts';
import type { DecidedState } from '../decide/decided-state.ts';
import type { DecisionBook } from '../prior/decision-book.ts';
import type { OwnDecisions } from '../prior/own-decisions.ts';
import { decisionChange } from '../prior/own-decisions.ts';
import { gainSinceKept } from '../prioritize/score-clusters.ts';

/** So many changed clusters are looked at one by one, however few there are in all. */
export const FEW = 64;

/** Whether nothing has happened that this decision depends on, clusters apart. */
export function isSettled(
  { prior, kept, compiled, journalLength }: DecidedState,
  book: DecisionBook,
): boolean {
  return isSame(prior, book.own(compiled.key)) && (kept.size === 0 || book.journal.length === journalLength);
}

/**
 * Whether nothing has happened since the last look but that others decided on clusters which are not selected here, and that made none
 * of them better, as most decisions of others do. A worse score of such a cluster changes no selection, so its place in the standing is
 * brought up to date only when something else happens to the placement: see `lags`. The largest count must be as it was.
 */
export function isSelectionKept(state: DecidedState, book: DecisionBook): boolean {
  const { compiled, feasible, kept, prior, recorded, standing, journalLength } = state;
  const { policy, key } = compiled;
  if (!policy.ok || feasible === undefined || standing === undefined || journalLength === undefined)
    return false;
  if (!isSame(prior, book.own(key))) return false;
  if (kept.size === 0) return true;
  const since = book.journal.since(journalLength, FEW);
  if (since === undefined) return false;
  const { most } = standing.basis;
  for (const cluster of since) {
    if (!hasBit(feasible, cluster)) continue;
    const count = (book.counts[cluster] as number) - (hasBit(prior.bits, cluster) ? 1 : 0);
    const gain = gainSinceKept(policy.prioritizers, kept, { cluster, count, most });
    if (gain > 0 || (gain < 0 && hasBit(recorded.bits, cluster))) return false;
  }
  return true;
}

/** Whether clusters may be elsewhere than the standing says, and their kept scores be older. */
export function lags({ standing, journalLength }: DecidedState): boolean {
  return standing !== undefined && standing.basis.journalLength !== journalLength;
}

function isSame(before: OwnDecisions, now: OwnDecisions): boolean {
  if (before === now) return true;
  const { gained, lost } = decisionChange(before, now);
  return gained.length + lost.length === 0;
}
