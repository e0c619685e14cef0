import { addSpentCode } from '../approval/approval-code.ts';
import { clusterChange } from '@berth/placement/result/cluster-change';
import type { ChangeUnderWay, PublishState } from './publish-state.ts';
import type { Removal } from './removal-budget.ts';

/**
 * The removals that count toward the budget. They include the removals of an interrupted change
 * that the pages on the hub already show. Removals that were announced but not made do not count. A
 * completed change that a release approved resets all removals, even if the process was killed
 * before it stored this.
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
 * The state without the current change if the pages show all of the change; otherwise the given
 * state.
 */
export function endFinishedChange(state: PublishState, published: readonly string[]): PublishState {
  return state.change !== undefined && isUnfinished(state.change, published)
    ? state
    : endChange(state, published);
}

/**
 * The state without the current change, which is known to be complete. The pages may list its
 * clusters again, because of a later change.
 */
export function endChange(state: PublishState, published: readonly string[]): PublishState {
  const { change } = state;
  if (change === undefined) return state;
  const { atMs, released } = change;
  return {
    ...state,
    publishedAtMs: atMs,
    released,
    removals: countedRemovals(state, published),
    spent: addSpentCode(state.spent, released?.token),
    change: undefined,
  };
}

/**
 * The clusters that were published before the interrupted change. While a change is interrupted,
 * the pages show neither these clusters nor the result of the change.
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
 * The change from the published clusters to the wanted ones. If a change was interrupted, it starts
 * from the clusters before that change.
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
 * them. If this change continues an interrupted one, the removals of the interrupted one are part
 * of this change. They count as earlier ones if the rest of it was given up.
 */
export function earlierRemovals(
  state: PublishState | undefined,
  now: {
    readonly specHash: string;
    readonly released: ChangeUnderWay['released'];
    readonly published: readonly string[];
    readonly isRestGivenUp?: boolean;
  },
): readonly Removal[] {
  if (state?.specHash !== now.specHash || now.released !== undefined) return [];
  const continues =
    now.isRestGivenUp !== true && state.change !== undefined && isUnfinished(state.change, now.published);
  return continues ? state.removals : countedRemovals(state, now.published);
}

/** Whether the pages do not show the whole change yet. */
export function isUnfinished({ added, removed }: ChangeUnderWay, published: readonly string[]): boolean {
  const listed = new Set(published);
  return removed.some((cluster) => listed.has(cluster)) || added.some((cluster) => !listed.has(cluster));
}
