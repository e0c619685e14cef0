import { clusterChange } from './cluster-change.ts';
import type { ChangeUnderWay, PublishState } from './publish-state.ts';
import { recentRemovals, type Removal } from './removal-window.ts';

/**
 * The removals that count, with what a change that was cut short took away: as much of it as the hub does not list any more. What was
 * announced and never done costs nothing, so that nobody has to know how far the change got.
 */
export function removalsWith(
  state: PublishState | undefined,
  published: readonly string[],
): readonly Removal[] {
  const { change, removals = [] } = state ?? {};
  if (change === undefined || change.released !== undefined) return removals;
  const listed = new Set(published);
  const count = change.removed.filter((cluster) => !listed.has(cluster)).length;
  return count === 0 ? removals : [...removals, { atMs: change.atMs, count }];
}

/** What was published before the change that is half done: neither that nor what it is to become is on the pages now. */
export function beforeChange(
  change: ChangeUnderWay | undefined,
  published: readonly string[],
): readonly string[] {
  if (change === undefined || !isHalfDone(change, published)) return published;
  const added = new Set(change.added);
  return [...new Set([...published.filter((cluster) => !added.has(cluster)), ...change.removed])];
}

/** The change from what was published, before a half-done one too, to what is wanted now. */
export function changeTo(
  wanted: readonly string[],
  from: {
    readonly state: PublishState | undefined;
    readonly published: readonly string[];
    readonly atMs: number;
    readonly released: ChangeUnderWay['released'];
  },
): ChangeUnderWay {
  const { atMs, released } = from;
  return { atMs, ...clusterChange(beforeChange(from.state?.change, from.published), wanted), released };
}

/** What still counts besides this change: a changed spec or a release starts again. A half-done change is part of the one that goes on with it. */
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
  const goesOn = state.change !== undefined && isHalfDone(state.change, now.published);
  return recentRemovals(goesOn ? state.removals : removalsWith(state, now.published), now.atMs);
}

/** Something of the change is not on the pages yet. */
export function isHalfDone({ added, removed }: ChangeUnderWay, published: readonly string[]): boolean {
  const listed = new Set(published);
  return removed.some((cluster) => listed.has(cluster)) || added.some((cluster) => !listed.has(cluster));
}
