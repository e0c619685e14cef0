import type { DecisionPage, DesiredGroup, GroupKey } from './decision-page.ts';
import type { DecisionRecord } from './decision-record.ts';
import type { Digest } from './plan-token.ts';

interface GroupMembers extends GroupKey {
  readonly clusters: readonly string[];
}

/** What stood on the hub after the publication that the record is of. */
export function recordedGroups(
  record: Pick<DecisionRecord, 'published' | 'decided'>,
): readonly GroupMembers[] {
  if (record.published !== null) return record.published.map(membersOf);
  const { groups = [] } = JSON.parse(record.decided) as { readonly groups?: readonly GroupMembers[] };
  return groups;
}

/** The groups of pages, one for each page. */
export function groupsOfPages(
  pages: readonly Pick<DecisionPage, 'group' | 'decisions'>[],
): readonly DesiredGroup[] {
  return pages.map(({ group = { name: '', index: 0 }, decisions }) => ({ ...group, decisions }));
}

export function membersOf({ name, index, decisions }: DesiredGroup): GroupMembers {
  return { name, index, clusters: decisions.map(({ clusterName }) => clusterName) };
}

/** The same clusters in the same groups, however they lie on pages. */
export function sameMembers(a: readonly GroupMembers[], b: readonly GroupMembers[]): boolean {
  return membersText(a) === membersText(b);
}

function membersText(groups: readonly GroupMembers[]): string {
  const lines = groups.flatMap(({ name, index, clusters }) =>
    clusters.map((cluster) => `${index} ${name} ${cluster}`),
  );
  return [...new Set(lines)].sort().join('\n');
}

/** Names what stands on the pages; cheap, since it is made of every publication. */
export function pagesDigest(digest: Digest, groups: readonly DesiredGroup[]): string {
  const text = groups.map(({ name, index, decisions }) => {
    let clusters = `${index} ${name}`;
    for (const { clusterName } of decisions) clusters += ` ${clusterName}`;
    return clusters;
  });
  return digest(text.join('\n')).slice(0, 16);
}
