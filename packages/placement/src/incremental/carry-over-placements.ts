import type { SchedulingIndex } from '../index/scheduling-index.ts';
import { carryOverDecision, type FleetChange } from './carry-over-decision.ts';
import type { ListedPlacements } from './listed-placements.ts';

/**
 * Compiles all placements for the new fleet and carries over their decisions.
 * @param fleet undefined if no decision can be carried over
 * @returns the positions of placements that must check added clusters, and the number of clusters
 * in all rankings
 */
export function carryOverPlacements(
  index: SchedulingIndex,
  listed: ListedPlacements,
  fleet: FleetChange | undefined,
): { readonly joined: ReadonlyMap<number, readonly number[]>; readonly ranked: number } {
  const joined = new Map<number, readonly number[]>();
  let ranked = 0;
  listed.replaceAll((placement, position, state) => {
    const compiled = index.compile(placement);
    const carried =
      state === undefined || fleet === undefined ? undefined : carryOverDecision(state, compiled, fleet);
    if (carried !== undefined && carried.joined.length > 0) joined.set(position, carried.joined);
    ranked += carried?.state.ranking?.count ?? 0;
    return { compiled, state: carried?.state };
  });
  return { joined, ranked };
}
