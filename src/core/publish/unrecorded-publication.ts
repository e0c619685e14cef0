import { clusterChange } from './cluster-change.ts';
import { type DesiredGroup, type ListedPage, publishedClusters } from './decision-page.ts';
import type { DecisionRecord } from './decision-record.ts';
import type { Digest } from './plan-token.ts';
import type { PublishState } from './publish-state.ts';
import { groupsOfPages, membersOf, pagesDigest, recordedGroups, sameMembers } from './recorded-groups.ts';

/** What was found on the hub and is in no record: published in the moment in which the process before this one was killed. */
export interface UnrecordedPublication {
  readonly groups: readonly DesiredGroup[];
  /** Compared with the last record of the placement. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The change that was being made, when it took clusters away: it was noted before. */
  readonly change: PublishState['change'];
}

interface Past {
  readonly newest: DecisionRecord | undefined;
  /** Of all records. */
  readonly oldestAtMs: number;
  readonly state: PublishState | undefined;
  readonly digest: Digest;
}

/**
 * Records are written behind the publications, so that nobody waits for them. What a killed process did not get to write is found at
 * the next start: on its first look at a placement, before it writes anything, the controller compares the pages with the last record.
 * @returns undefined when the pages are as the last record says
 */
export function unrecordedPublication(
  pages: readonly ListedPage[],
  past: Past,
): UnrecordedPublication | undefined {
  const groups = groupsOfPages(pages);
  if (isRecorded(groups, past)) return undefined;
  const { newest, state } = past;
  const before = newest === undefined ? [] : recordedGroups(newest).flatMap(({ clusters }) => clusters);
  const change = clusterChange([...new Set(before)], publishedClusters(pages));
  return { groups, ...change, change: state?.change };
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
