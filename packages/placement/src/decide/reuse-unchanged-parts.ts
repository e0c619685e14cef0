import type { DecisionOutcome } from './finish-decision.ts';
import type { DecidedState } from './decided-state.ts';
import type { CompiledPlacement } from '../index/scheduling-index.ts';
import type { OwnDecisions } from '../prior/own-decisions.ts';
import { hasBit } from '../snapshot/bitset.ts';

/**
 * The parts of a decision that are the same as in the previous one. They stay the same objects.
 * Most placements that are decided again select the same clusters, and making thousands of names
 * and groups again takes longer than deciding.
 */
export function reuseUnchangedParts(
  { stage, compiled, result, recorded, selected }: DecidedState,
  after: { readonly compiled: CompiledPlacement; readonly order: Uint32Array },
): DecisionOutcome['known'] {
  const { groups: plan } = after.compiled;
  // Named groups also depend on labels, and groups sorted by score on scores.
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

/** Compares two lists of the same length. */
function sameOrder(before: Uint32Array, after: Uint32Array): boolean {
  for (let at = 0; at < after.length; at++) if (before[at] !== after[at]) return false;
  return true;
}
