import type { Bitset } from '../../snapshot/bitset.ts';
import { bitsToArray, makeBitset, putBit } from '../../snapshot/bitset.ts';
import type { Fleet } from '../../snapshot/fleet.ts';
import type { DecidedState } from '../decide/decided-state.ts';
import { feasibleClusters } from '../filter/feasible.ts';
import { listDecisions, ownDecisions } from '../prior/own-decisions.ts';
import type { OwnDecisions } from '../prior/own-decisions.ts';
import type { CompiledPlacement } from '../index/scheduling-index.ts';

/** Cluster numbers before and after clusters were added or removed. */
export interface Renumbering {
  /** By the number before, including clusters that are not in the fleet. */
  readonly toNew: Uint32Array;
  readonly before: Fleet;
  readonly after: Fleet;
}

/**
 * The state of a placement after only clusters, sets or bindings were added or removed; undefined when that affects
 * the placement, which must then be scheduled again.
 */
export function carryOver(
  state: DecidedState,
  compiled: CompiledPlacement,
  numbers: Renumbering,
): DecidedState | undefined {
  if (state.stage !== 'done' || compiled.skipped || state.feasible === undefined) return undefined;
  if (!sameTexts(state.compiled.eligibility.sets, compiled.eligibility.sets)) return undefined;
  const hadBindings = state.compiled.eligibility.validBindings.length > 0;
  if (hadBindings !== compiled.eligibility.validBindings.length > 0) return undefined;
  if (state.hadAvailable !== compiled.eligibility.count > 0) return undefined;
  if (compiled.tolerations.problem !== undefined || compiled.predicate.problem !== undefined)
    return undefined;
  const prior = renumberOwn(state.prior, numbers);
  const feasible = renumberBits(state.feasible, numbers);
  if (feasible === undefined || !sameBits(feasible, feasibleClusters(compiled, prior.bits))) return undefined;
  // The requeue time also depends on previous clusters that are not feasible.
  if (compiled.tolerations.timed && cameOrWent(listDecisions(state.prior), numbers)) return undefined;
  return {
    ...state,
    compiled,
    feasible,
    prior,
    kept: new Map([...state.kept].map(([name, scores]) => [name, renumberScores(scores, numbers)])),
    selected: renumber(state.selected, numbers),
    recorded: renumberOwn(state.recorded, numbers),
    // Numbers and counts are different afterwards.
    standing: undefined,
    journalLength: undefined,
  };
}

function renumber(list: Uint32Array, { toNew }: Renumbering): Uint32Array {
  return list.map((before) => toNew[before] as number);
}

function renumberOwn(own: OwnDecisions, numbers: Renumbering): OwnDecisions {
  return ownDecisions(renumber(listDecisions(own), numbers), numbers.after.size);
}

/** Undefined when a member is gone. */
function renumberBits(bits: Bitset, { toNew, after }: Renumbering): Bitset | undefined {
  const renumbered = makeBitset(after.size);
  for (const before of bitsToArray(bits)) {
    const number = toNew[before] as number;
    if (number >= after.size) return undefined;
    putBit(renumbered, number, true);
  }
  return renumbered;
}

/** Scores of clusters that are new are not known; they are not feasible, so nothing was decided by them. */
function renumberScores(scores: Int8Array, { toNew, after }: Renumbering): Int8Array {
  const renumbered = new Int8Array(after.size);
  scores.forEach((score, before) => {
    const number = toNew[before] as number;
    if (number < after.size) renumbered[number] = score;
  });
  return renumbered;
}

function cameOrWent(prior: Uint32Array, { toNew, before, after }: Renumbering): boolean {
  return prior.some((number) => number < before.size !== (toNew[number] as number) < after.size);
}

function sameTexts(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, at) => text === right[at]);
}

function sameBits(left: Bitset, right: Bitset): boolean {
  return left.every((word, at) => word === right[at]);
}
