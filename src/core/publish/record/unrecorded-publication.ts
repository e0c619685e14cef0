import { isUnfinished } from '../judge/change-under-way.ts';
import { clusterChange, type ClusterChange } from '@berth/placement/result/cluster-change';
import { type DesiredGroup, type ListedPage, publishedClusters } from '../pages/decision-page.ts';
import type { DecisionRecord } from './decision-record.ts';
import type { Digest } from '../approval/approval-code.ts';
import type { PublishState } from '../judge/publish-state.ts';
import {
  groupsOfPages,
  groupClusters,
  pagesDigest,
  recordedGroups,
  sameClusters,
} from './recorded-groups.ts';

/**
 * A publication on the hub without a record, because the previous process was killed after it
 * published and before it recorded.
 */
export interface UnrecordedPublication {
  readonly groups: readonly DesiredGroup[];
  /** The clusters added since the last record of the placement. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** What the previous process announced or stored about the publication; undefined if nothing. */
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
  /** When the oldest record of all placements was made, in milliseconds since the epoch. */
  readonly oldestAtMs: number;
  readonly state: PublishState | undefined;
  readonly digest: Digest;
}

/**
 * Finds a publication that has no record. Berth writes a record after its publication, so that no
 * publication waits for it. A killed process may leave a publication without a record. The
 * controller therefore compares the pages with the last record in its first pass over a placement,
 * before it writes anything.
 * @returns undefined if the pages match the last record
 */
export function unrecordedPublication(
  pages: readonly ListedPage[],
  past: Past,
): UnrecordedPublication | undefined {
  const groups = groupsOfPages(pages);
  if (isRecorded(groups, past)) return undefined;
  const { added, removed } = changeSince(past, publishedClusters(pages));
  return { groups, added, removed, made: madePublication(pages, groups, past) };
}

/** The change since the last record. If there is none, the announcement says what was changed. */
function changeSince({ newest, state }: Past, published: readonly string[]): ClusterChange {
  if (newest === undefined && state?.change !== undefined && !isUnfinished(state.change, published))
    return state.change;
  const before = newest === undefined ? [] : recordedGroups(newest).flatMap(({ clusters }) => clusters);
  return clusterChange([...new Set(before)], published);
}

/**
 * When and how the publication was made. The source is the announcement that is stored before
 * clusters are removed, or the state that is stored when the publication is complete.
 */
function madePublication(
  pages: readonly ListedPage[],
  groups: readonly DesiredGroup[],
  { state, digest }: Past,
): KnownPublication | undefined {
  if (state?.change !== undefined) {
    const { atMs, released } = state.change;
    // A release is used when its change is complete.
    if (isUnfinished(state.change, publishedClusters(pages)))
      return { atMs, released: undefined, counts: false };
    return { atMs, released, counts: released === undefined };
  }
  if (state?.pages !== pagesDigest(digest, groups)) return undefined;
  const { publishedAtMs: atMs, released, removals } = state;
  return { atMs, released, counts: removals.at(-1)?.atMs === atMs };
}

function isRecorded(groups: readonly DesiredGroup[], { newest, state, oldestAtMs, digest }: Past): boolean {
  const found = groups.map(groupClusters);
  if (newest !== undefined) return sameClusters(recordedGroups(newest), found);
  const wasPublished = state?.recalled === true || state?.record !== undefined;
  if (!wasPublished && found.every(({ clusters }) => clusters.length === 0)) return true;
  // The old record was dropped because of the limit on records.
  return (
    state?.record !== undefined &&
    state.publishedAtMs < oldestAtMs &&
    state.pages === pagesDigest(digest, groups)
  );
}
