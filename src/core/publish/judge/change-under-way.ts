import { addSpentToken } from '../approval/plan-token.ts';
import { clusterChange } from './cluster-change.ts';
import type { ChangeUnderWay, PublishState } from './publish-state.ts';
import { recentRemovals, type Removal } from './removal-window.ts';

/**
 * The removals that count toward the budget, including those of an interrupted change that the hub no longer lists.
 * Removals that were announced and never made do not count, so it need not be known how far the change got. A released change that is done
 * resets them, also where the process was killed before it noted that.
 */
export function countedRemovals(
  state: PublishState | undefined,
  published: readonly string[],
): readonly Removal[] {
  const { change, removals = [] } = state ?? {};
  if (change === undefined) return removals;
  if (change.released !== undefined) return isUnfinished(change, published) ? removals : [];
  const listed = new Set(published);
  const count = change.removed.filter((cluster) => !listed.has(cluster)).length;
  return count === 0 ? removals : [...removals, { atMs: change.atMs, count }];
}

/** The state after the change under way, where the pages show all of it; else the state as it is. */
export function endFinishedChange(state: PublishState, published: readonly string[]): PublishState {
  const { change } = state;
  if (change === undefined || isUnfinished(change, published)) return state;
  const { atMs, released } = change;
  return {
    ...state,
    publishedAtMs: atMs,
    released,
    removals: countedRemovals(state, published),
    spent: addSpentToken(state.spent, released?.token),
    change: undefined,
  };
}

/** What was published before the interrupted change. The pages now show neither that nor the result of the change. */
export function clustersBeforeChange(
  change: ChangeUnderWay | undefined,
  published: readonly string[],
): readonly string[] {
  if (change === undefined || !isUnfinished(change, published)) return published;
  const added = new Set(change.added);
  return [...new Set([...published.filter((cluster) => !added.has(cluster)), ...change.removed])];
}

/** The change from what was published, before an interrupted change if there is one, to what is wanted now. */
export function continueChange(
  wanted: readonly string[],
  from: {
    readonly state: PublishState | undefined;
    readonly published: readonly string[];
    readonly atMs: number;
    readonly released: ChangeUnderWay['released'];
  },
): ChangeUnderWay {
  const { atMs, released } = from;
  return {
    atMs,
    ...clusterChange(clustersBeforeChange(from.state?.change, from.published), wanted),
    released,
  };
}

/**
 * The earlier removals that count besides this change. A changed spec or a release resets them. An interrupted change
 * is part of the one that continues it.
 */
export function earlierRemovals(
  state: PublishState | undefined,
  now: {
    readonly specHash: string;
    readonly released: ChangeUnderWay['released'];
    readonly published: readonly string[];
    readonly atMs: number;
  },
): readonly Removal[] {
  if (state?.specHash !== now.specHash || now.released !== undefined) return [];
  const goesOn = state.change !== undefined && isUnfinished(state.change, now.published);
  return recentRemovals(goesOn ? state.removals : countedRemovals(state, now.published), now.atMs);
}

/** Something of the change is not on the pages yet. */
export function isUnfinished({ added, removed }: ChangeUnderWay, published: readonly string[]): boolean {
  const listed = new Set(published);
  return removed.some((cluster) => listed.has(cluster)) || added.some((cluster) => !listed.has(cluster));
}
