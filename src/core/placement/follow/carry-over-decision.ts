import { hasBit, putBit } from '../../snapshot/bitset.ts';
import type { Bitset } from '../../snapshot/bitset.ts';
import type { DecidedState } from '../decide/decided-state.ts';
import { feasibleClusters } from '../filter/feasible.ts';
import type { ClusterRenumbering } from '../prior/cluster-renumbering.ts';
import type { CompiledPlacement } from '../index/scheduling-index.ts';

/** The fleet after clusters came or went. */
export interface FleetChange {
  readonly numbers: ClusterRenumbering;
  /** How often each cluster is decided, by the number after. */
  readonly counts: Int32Array;
}

/** A state over the fleet after, and clusters that joined it and that the placement has to look at. */
export interface CarriedDecision {
  readonly state: DecidedState;
  readonly joined: readonly number[];
}

/**
 * The state of a placement after only clusters, sets or bindings were added or removed; undefined when that affects
 * the placement in another way than by clusters that joined: it must then be scheduled in full.
 */
export function carryOverDecision(
  state: DecidedState,
  compiled: CompiledPlacement,
  { numbers, counts }: FleetChange,
): CarriedDecision | undefined {
  if (state.stage !== 'done' || compiled.skipped || state.feasible === undefined) return undefined;
  if (!sameTexts(state.compiled.eligibility.sets, compiled.eligibility.sets)) return undefined;
  const hadBindings = state.compiled.eligibility.validBindings.length > 0;
  if (hadBindings !== compiled.eligibility.validBindings.length > 0) return undefined;
  if (state.hadAvailable !== compiled.eligibility.count > 0) return undefined;
  if (compiled.tolerations.problem !== undefined || compiled.predicate.problem !== undefined)
    return undefined;
  const prior = numbers.decisions(state.prior);
  const feasible = numbers.bits(state.feasible);
  const joined = joinedOnly(feasible, feasibleClusters(compiled, prior.bits), numbers);
  if (joined === undefined || numbers.hasLeft(state.feasible)) return undefined;
  const { ranking } = state;
  if (joined.length > 0 && ranking === undefined) return undefined;
  // The requeue time also depends on previous clusters that are not feasible.
  if (compiled.tolerations.timed && numbers.cameOrWent(state.prior)) return undefined;
  ranking?.renumber(numbers.toNew);
  const selected = ranking?.order.subarray(0, state.selected.length);
  const kept = new Map([...state.kept].map(([name, scores]) => [name, numbers.scores(scores)] as const));
  const carried = {
    ...{ ...state, compiled, feasible, prior, kept },
    selected: selected ?? state.selected.map((before) => numbers.toNew[before] as number),
    recorded: numbers.decisions(state.recorded),
  };
  // Scores that nothing can bring up to date are computed again, with all others.
  if (ranking === undefined) return { state: { ...carried, journalLength: undefined }, joined };
  scoreJoined(carried, counts, numbers);
  return { state: carried, joined };
}

/** The clusters that a set has more than another; undefined when they differ in others than those that joined. */
function joinedOnly(
  before: Bitset,
  after: Bitset,
  { joined }: ClusterRenumbering,
): readonly number[] | undefined {
  const more = joined.filter((number) => hasBit(after, number));
  const expected = before.slice();
  for (const number of more) putBit(expected, number, true);
  return expected.every((word, at) => word === after[at]) ? more : undefined;
}

/** The scores by counts that decided before: clusters that joined have one as well, feasible or not. */
function scoreJoined(
  { compiled: { policy }, kept, prior, ranking }: DecidedState,
  counts: Int32Array,
  { joined }: ClusterRenumbering,
): void {
  if (!policy.ok || ranking === undefined) return;
  for (const { prioritizer } of policy.prioritizers) {
    const scores = kept.get(prioritizer.name);
    if (scores === undefined || prioritizer.countScore === undefined) continue;
    for (const number of joined) {
      const others = (counts[number] as number) - (hasBit(prior.bits, number) ? 1 : 0);
      scores[number] = prioritizer.countScore(others, ranking.basis.most);
    }
  }
}

function sameTexts(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, at) => text === right[at]);
}
