import type { Placement } from '@berth/ocm/kind/placement';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { DesiredGroup, GroupKey, ListedPage } from '../pages/decision-page.ts';
import type { DecisionRecord } from './decision-record.ts';
import { desiredGroups, joinGroups } from '../pages/desired-groups.ts';
import type { Digest } from '../approval/approval-code.ts';

interface GroupClusters extends GroupKey {
  readonly clusters: readonly string[];
}

/** The groups on the hub after the recorded publication. */
export function recordedGroups(
  record: Pick<DecisionRecord, 'published' | 'decided'>,
): readonly GroupClusters[] {
  if (record.published !== null) return record.published.map(groupClusters);
  const { groups = [] } = JSON.parse(record.decided) as { readonly groups?: readonly GroupClusters[] };
  return groups;
}

/**
 * The groups after the recorded publication, in the form in which they are written, each group
 * once.
 */
export function recordedDecisions(
  record: Pick<DecisionRecord, 'published' | 'decided'>,
  placement: Placement,
): readonly DesiredGroup[] {
  if (record.published !== null) return joinGroups(record.published);
  const decided = JSON.parse(record.decided) as Partial<ScheduleResult>;
  const { groups = [], selected = [], selectedScores = [] } = decided;
  return desiredGroups({ placement, groups, selected, selectedScores });
}

/** The groups of pages, one for each page. */
export function groupsOfPages(
  pages: readonly Pick<ListedPage, 'group' | 'decisions'>[],
): readonly DesiredGroup[] {
  return pages.map(({ group = { name: '', index: 0 }, decisions }) => ({ ...group, decisions }));
}

export function groupClusters({ name, index, decisions }: DesiredGroup): GroupClusters {
  return { name, index, clusters: decisions.map(({ clusterName }) => clusterName) };
}

/** Whether both have the same clusters in the same groups, on any pages. */
export function sameClusters(a: readonly GroupClusters[], b: readonly GroupClusters[]): boolean {
  return clustersText(a) === clustersText(b);
}

function clustersText(groups: readonly GroupClusters[]): string {
  const lines = groups.flatMap(({ name, index, clusters }) =>
    clusters.map((cluster) => `${index} ${name} ${cluster}`),
  );
  return [...new Set(lines)].sort().join('\n');
}

/** Digest of the pages. It must be fast, because every publication computes it. */
export function pagesDigest(digest: Digest, groups: readonly DesiredGroup[]): string {
  const text = groups.map(({ name, index, decisions }) => {
    let clusters = `${index} ${name}`;
    for (const { clusterName } of decisions) clusters += ` ${clusterName}`;
    return clusters;
  });
  return digest(text.join('\n')).slice(0, 16);
}
