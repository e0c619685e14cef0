import type { Placement } from '@berth/ocm/kind/placement';
import { MAX_CLUSTERS_PER_DECISION } from '@berth/ocm/kind/placement-decision';
import { clusterChange, type ClusterChange } from '@berth/placement/result/cluster-change';
import type { Digest } from '../approval/approval-code.ts';
import { isUnfinished } from '../judge/change-under-way.ts';
import type { PublishState } from '../judge/publish-state.ts';
import {
  type DecisionPage,
  type DesiredGroup,
  listedClusters,
  type ListedPage,
  publishedClusters,
  sameGroup,
} from '../pages/decision-page.ts';
import type { FinalPage } from '../pages/plan-pages.ts';
import type { DecisionRecord } from './decision-record.ts';
import {
  groupClusters,
  groupsOfPages,
  type LastPublication,
  listClustersOnce,
  pagesDigest,
  recordedDecisions,
  recordedGroups,
  sameClusters,
} from './last-publication.ts';

/**
 * The last publication of the previous process, from the last record of the placement. It is
 * defined only if nothing was published after the record: the state names this record, the status
 * (which is written last) has the same number of clusters, and the hub lists no cluster that is not
 * in the record. Otherwise another controller published meanwhile, the data directory is an old
 * copy, or the record was lost. Then the result is undefined and the pages on the hub count as the
 * publication. The result is also undefined if no cluster of the record is missing on the hub.
 *
 * On a hub that was restored from a backup, all clusters of the record count, unless a change was in
 * progress: Berth stores a removal before it makes it. A page of the backup is older than the record,
 * or it was written after it, as an addition that has no record. Then its clusters count, too, and so
 * does what this process saw before the restore.
 */
export function recordedPublication(input: {
  readonly record: DecisionRecord | undefined;
  readonly state: PublishState | undefined;
  /** The placement on the hub. */
  readonly placement: Placement;
  readonly pages: readonly DecisionPage[];
  /** Names of the pages that were written after the record; undefined if the hub was not restored since. */
  readonly pagesSince: ReadonlySet<string> | undefined;
  /** What this process saw published before the restore. */
  readonly seen: readonly FinalPage[];
}): LastPublication | undefined {
  const { record, state, placement, pages, pagesSince, seen } = input;
  if (record === undefined || state?.record !== record.hash) return undefined;
  if (pagesSince !== undefined && state.change === undefined) {
    const recorded = without(recordedDecisions(record, placement), new Set(listedClusters(seen)));
    return publishedBeforeRestore([...groupsOfPages(seen), ...recorded], placement, pages, pagesSince);
  }
  if (placement.status?.numberOfSelectedClusters !== record.clusters) return undefined;
  const onHub = new Set(listedClusters(pages));
  // No cluster is missing, or it is unknown which one is. This is checked before the record is
  // parsed, because a start reads many long records.
  if (onHub.size === record.clusters && state.change === undefined) return undefined;
  const groups = recordedDecisions(record, placement);
  const clusters = new Set(listedClusters(groups));
  const arriving = new Set(state.change?.added);
  const isNew = (cluster: string): boolean => !clusters.has(cluster) && !arriving.has(cluster);
  if ([...onHub].some(isNew)) return undefined;
  const taken = pagesOf(without(groups, onHub), placement, pages);
  return { pages: [...listClustersOnce(pages).pages, ...taken], leaving: state.change?.removed ?? [] };
}

function publishedBeforeRestore(
  groups: readonly DesiredGroup[],
  placement: Placement,
  pages: readonly DecisionPage[],
  pagesSince: ReadonlySet<string>,
): LastPublication {
  const clusters = new Set(listedClusters(groups));
  const kept = listClustersOnce(pages)
    .pages.map((page) => ({
      ...page,
      decisions: page.decisions.filter(
        ({ clusterName }) => pagesSince.has(page.name) || clusters.has(clusterName),
      ),
    }))
    .filter(({ decisions }) => decisions.length > 0);
  const missing = without(groups, new Set(listedClusters(kept)));
  return { pages: [...kept, ...pagesOf(missing, placement, pages)], leaving: undefined };
}

function without(groups: readonly DesiredGroup[], clusters: ReadonlySet<string>): readonly DesiredGroup[] {
  return groups.map((group) => ({
    ...group,
    decisions: group.decisions.filter(({ clusterName }) => !clusters.has(clusterName)),
  }));
}

/**
 * Assigns missing clusters to pages, because a record has groups and no pages. Missing clusters
 * were most likely on missing pages. If no page is missing, they go to an existing one.
 */
function pagesOf(
  missing: readonly DesiredGroup[],
  placement: Placement,
  pages: readonly DecisionPage[],
): LastPublication['pages'] {
  return missing.flatMap(({ name, index, decisions }) => {
    const status = placement.status?.decisionGroups?.find(({ decisionGroupIndex, decisionGroupName }) =>
      sameGroup({ name: decisionGroupName, index: decisionGroupIndex }, { name, index }),
    );
    const names = (status?.decisions ?? []).filter((page) => !pages.some((other) => other.name === page));
    const other = pages.find(({ group }) => sameGroup(group, { name, index }))?.name;
    const parts = Math.ceil(decisions.length / MAX_CLUSTERS_PER_DECISION);
    return Array.from({ length: parts }, (_, at) => ({
      name: names[at] ?? other ?? `${placement.metadata.name}-decision-1`,
      group: { name, index },
      decisions: decisions.slice(at * MAX_CLUSTERS_PER_DECISION, (at + 1) * MAX_CLUSTERS_PER_DECISION),
    }));
  });
}

/**
 * A publication on the hub without a record, because the previous process was killed after it
 * published and before it recorded.
 */
interface UnrecordedPublication {
  readonly groups: readonly DesiredGroup[];
  /** The clusters added since the last record of the placement. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** What the previous process announced or stored about the publication; undefined if nothing. */
  readonly made: KnownPublication | undefined;
}

interface KnownPublication {
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
