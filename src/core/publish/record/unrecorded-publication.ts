import { isUnfinished } from '../judge/change-under-way.ts';
import { clusterChange } from '../judge/cluster-change.ts';
import { type DesiredGroup, type ListedPage, publishedClusters } from '../pages/decision-page.ts';
import type { DecisionRecord } from './decision-record.ts';
import type { Digest } from '../approval/plan-token.ts';
import type { PublishState } from '../judge/publish-state.ts';
import { groupsOfPages, membersOf, pagesDigest, recordedGroups, sameMembers } from './recorded-groups.ts';

/** A publication on the hub without a record: the previous process was killed between publishing and recording. */
export interface UnrecordedPublication {
  readonly groups: readonly DesiredGroup[];
  /** Compared with the last record of the placement. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The announcement of the process that made it; undefined if there is none. */
  readonly made: KnownPublication | undefined;
}

export interface KnownPublication {
  readonly atMs: number;
  readonly released: PublishState['released'];
  /** Whether its removals count toward the budget. */
  readonly counts: boolean;
}

interface Past {
  readonly newest: DecisionRecord | undefined;
  /** Of all records. */
  readonly oldestAtMs: number;
  readonly state: PublishState | undefined;
  readonly digest: Digest;
}

/**
 * Records are written after the publications, so that nothing waits for them. Records that a killed
 * process did not write are found at the next start: in the first pass over a placement, before it
 * writes anything, the controller compares the pages with the last record.
 * @returns undefined if the pages match the last record
 */
export function unrecordedPublication(
  pages: readonly ListedPage[],
  past: Past,
): UnrecordedPublication | undefined {
  const groups = groupsOfPages(pages);
  if (isRecorded(groups, past)) return undefined;
  const { newest } = past;
  const before = newest === undefined ? [] : recordedGroups(newest).flatMap(({ clusters }) => clusters);
  const change = clusterChange([...new Set(before)], publishedClusters(pages));
  return { groups, ...change, made: madePublication(pages, groups, past) };
}

/**
 * From the announcement that is stored before clusters are removed, or from the state that is
 * stored when the publication is complete.
 */
function madePublication(
  pages: readonly ListedPage[],
  groups: readonly DesiredGroup[],
  { state, digest }: Past,
): KnownPublication | undefined {
  if (state?.change !== undefined) {
    const { atMs, released } = state.change;
    const counts = released === undefined && !isUnfinished(state.change, publishedClusters(pages));
    return { atMs, released, counts };
  }
  if (state?.pages !== pagesDigest(digest, groups)) return undefined;
  const { publishedAtMs: atMs, released, removals } = state;
  return { atMs, released, counts: removals.at(-1)?.atMs === atMs };
}

function isRecorded(groups: readonly DesiredGroup[], { newest, state, oldestAtMs, digest }: Past): boolean {
  const members = groups.map(membersOf);
  if (newest !== undefined) return sameMembers(recordedGroups(newest), members);
  if (members.every(({ clusters }) => clusters.length === 0)) return true;
  // The record of old was dropped, to stay within the limit.
  return (
    state?.record !== undefined &&
    state.publishedAtMs < oldestAtMs &&
    state.pages === pagesDigest(digest, groups)
  );
}
