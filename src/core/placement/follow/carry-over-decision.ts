import type { Bitset } from '../../snapshot/bitset.ts';
import { bitsToArray, makeBitset, putBit } from '../../snapshot/bitset.ts';
import type { ClusterIndex } from '../../snapshot/cluster-index.ts';
import type { DecidedState } from '../decide/decided-state.ts';
import { feasibleClusters } from '../filter/feasible.ts';
import { listDecisions, makeOwnDecisions } from '../prior/own-decisions.ts';
import type { OwnDecisions } from '../prior/own-decisions.ts';
import type { CompiledPlacement } from '../index/scheduling-index.ts';

/** Cluster numbers before and after clusters were added or removed. */
export interface ClusterRenumbering {
  /** By the number before, including clusters that are not in the fleet. */
  readonly toNew: Uint32Array;
  readonly before: ClusterIndex;
  readonly after: ClusterIndex;
}

/**
 * The state of a placement after only clusters, sets or bindings were added or removed; undefined when that affects
 * the placement, which must then be scheduled again.
 */
export function carryOverDecision(
  state: DecidedState,
  compiled: CompiledPlacement,
  numbers: ClusterRenumbering,
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
    ranking: undefined,
    journalLength: undefined,
  };
}

function renumber(list: Uint32Array, { toNew }: ClusterRenumbering): Uint32Array {
  return list.map((before) => toNew[before] as number);
}

function renumberOwn(own: OwnDecisions, numbers: ClusterRenumbering): OwnDecisions {
  return makeOwnDecisions(renumber(listDecisions(own), numbers), numbers.after.size);
}

/** Undefined when a member is gone. */
function renumberBits(bits: Bitset, { toNew, after }: ClusterRenumbering): Bitset | undefined {
  const renumbered = makeBitset(after.size);
  for (const before of bitsToArray(bits)) {
    const number = toNew[before] as number;
    if (number >= after.size) return undefined;
    putBit(renumbered, number, true);
  }
  return renumbered;
}

/** Scores of clusters that are new are not known; they are not feasible, so nothing was decided by them. */
function renumberScores(scores: Int8Array, { toNew, after }: ClusterRenumbering): Int8Array {
  const renumbered = new Int8Array(after.size);
  scores.forEach((score, before) => {
    const number = toNew[before] as number;
    if (number < after.size) renumbered[number] = score;
  });
  return renumbered;
}

function cameOrWent(prior: Uint32Array, { toNew, before, after }: ClusterRenumbering): boolean {
  return prior.some((number) => number < before.size !== (toNew[number] as number) < after.size);
}

function sameTexts(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, at) => text === right[at]);
}

function sameBits(left: Bitset, right: Bitset): boolean {
  return left.every((word, at) => word === right[at]);
}
