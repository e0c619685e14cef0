import { type Bitset, hasBit, putBit } from '../snapshot/bitset.ts';
import type { DecidedState } from '../decide/decided-state.ts';
import { feasibleClusters } from '../filter/feasible.ts';
import type { ClusterRenumbering } from '../prior/cluster-renumbering.ts';
import type { CompiledPlacement } from '../index/scheduling-index.ts';

/** The fleet after clusters were added or removed. */
export interface FleetChange {
  readonly numbers: ClusterRenumbering;
  /** How many placements select each cluster, by the new cluster number. */
  readonly counts: Int32Array;
}

/** A state with the new cluster numbers, and the added clusters that the placement must check. */
export interface CarriedDecision {
  readonly state: DecidedState;
  readonly joined: readonly number[];
}

/**
 * The state of a placement after clusters, sets or bindings were added or removed, and nothing else
 * changed. Undefined if the change affects the placement in other ways than by added clusters. Then the
 * placement must be scheduled in full.
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
  // Without a ranking, nothing updates the cached scores. They are computed again later.
  if (ranking === undefined) return { state: { ...carried, countLogLength: undefined }, joined };
  scoreJoined(carried, counts, numbers);
  return { state: carried, joined };
}

/** The added clusters in `after`. Undefined if the sets also differ in other clusters. */
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

/** Sets the scores by decision counts of the added clusters, feasible or not. */
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
