import type { DecisionOutcome } from './finish-decision.ts';
import type { DecidedState } from './decided-state.ts';
import type { CompiledPlacement } from '../index/scheduling-index.ts';
import type { OwnDecisions } from '../prior/own-decisions.ts';
import { hasBit } from '../../snapshot/bitset.ts';

/**
 * What a decision has in common with the one before it. Lists that stay the same stay the same objects: most placements that are
 * decided again select the clusters that they selected, and to make thousands of names and groups again takes longer than to decide.
 */
export function partsInCommon(
  { stage, compiled, result, recorded, selected }: DecidedState,
  after: { readonly compiled: CompiledPlacement; readonly order: Uint32Array },
): DecisionOutcome['known'] {
  const { groups: plan } = after.compiled;
  // Named groups also depend on labels, those by score on scores.
  if (stage !== 'done' || plan !== compiled.groups || !plan.ok || plan.named.length > 0 || plan.byScore)
    return undefined;
  const { order } = after;
  if (order.length !== selected.length || !areRecorded(order, recorded)) return undefined;
  const names = sameOrder(selected, order) ? result.selected : undefined;
  return { names, groups: result.groups, recorded };
}

function areRecorded(clusters: Uint32Array, { bits }: OwnDecisions): boolean {
  for (let at = 0; at < clusters.length; at++) if (!hasBit(bits, clusters[at] as number)) return false;
  return true;
}

/** Of two lists of the same length. */
function sameOrder(before: Uint32Array, after: Uint32Array): boolean {
  for (let at = 0; at < after.length; at++) if (before[at] !== after[at]) return false;
  return true;
}
