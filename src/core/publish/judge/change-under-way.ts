import { addSpentToken } from '../approval/plan-token.ts';
import { clusterChange } from './cluster-change.ts';
import type { ChangeUnderWay, PublishState } from './publish-state.ts';
import { recentRemovals, type Removal } from './removal-window.ts';

/**
 * The removals that count toward the budget, including those of an interrupted change that the hub
 * no longer lists. Removals that were announced but not made do not count. A completed released
 * change resets them, even if the process was killed before it recorded this.
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

/**
 * The state after the current change, if the pages show all of it; otherwise the unchanged state.
 */
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

/**
 * The published clusters before the interrupted change. The pages show neither these nor the result
 * of the change.
 */
export function clustersBeforeChange(
  change: ChangeUnderWay | undefined,
  published: readonly string[],
): readonly string[] {
  if (change === undefined || !isUnfinished(change, published)) return published;
  const added = new Set(change.added);
  return [...new Set([...published.filter((cluster) => !added.has(cluster)), ...change.removed])];
}

/**
 * The change from the published clusters (before an interrupted change, if there is one) to the
 * wanted ones.
 */
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
 * The earlier removals that count in addition to this change. A changed spec or a release resets
 * them. An interrupted change is part of the one that continues it.
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
