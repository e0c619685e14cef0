import type { Placement } from '../../model/kind/placement.ts';
import { MAX_CLUSTERS_PER_DECISION } from '../../model/kind/placement-decision.ts';
import { type DecisionPage, type DesiredGroup, listedClusters, sameGroup } from '../pages/decision-page.ts';
import type { DecisionRecord } from './decision-record.ts';
import type { LastPublication } from './last-publication.ts';
import { listClustersOnce } from '../pages/list-clusters-once.ts';
import type { PublishState } from '../judge/publish-state.ts';
import { recordedDecisions } from './recorded-groups.ts';

/**
 * The last publication of the previous process, from the last record of the placement. Defined only
 * if nothing was published after it: the state names this record, the status (which is written
 * last) has the same number of clusters, and the hub lists no cluster that is not in the record.
 * Otherwise (another controller published meanwhile, the data directory is an old copy, or the
 * record was lost), and if none of its clusters is missing, undefined: then the pages on the hub
 * are the publication. A hub that was restored from a backup is older; then the record alone is
 * used, unless a change was in progress.
 */
export function recordedPublication(input: {
  readonly record: DecisionRecord | undefined;
  readonly state: PublishState | undefined;
  /** As it is on the hub. */
  readonly placement: Placement;
  readonly pages: readonly DecisionPage[];
  readonly isHubRestored: boolean;
}): LastPublication | undefined {
  const { record, state, placement, pages, isHubRestored } = input;
  if (record === undefined || state?.record !== record.hash) return undefined;
  if (isHubRestored && state.change === undefined) return publishedBeforeRestore(record, placement, pages);
  if (placement.status?.numberOfSelectedClusters !== record.clusters) return undefined;
  const standing = new Set(listedClusters(pages));
  // No cluster is missing, or it is not known which. Checked first, because a start reads many long
  // records.
  if (standing.size === record.clusters && state.change === undefined) return undefined;
  const groups = recordedDecisions(record, placement);
  const clusters = new Set(listedClusters(groups));
  const arriving = new Set(state.change?.added);
  const isNew = (cluster: string): boolean => !clusters.has(cluster) && !arriving.has(cluster);
  if ([...standing].some(isNew)) return undefined;
  const taken = pagesOf(without(groups, standing), placement, pages);
  return { pages: [...listClustersOnce(pages).pages, ...taken], leaving: state.change?.removed ?? [] };
}

function publishedBeforeRestore(
  record: DecisionRecord,
  placement: Placement,
  pages: readonly DecisionPage[],
): LastPublication {
  const groups = recordedDecisions(record, placement);
  const clusters = new Set(listedClusters(groups));
  const kept = listClustersOnce(pages)
    .pages.map((page) => ({
      ...page,
      decisions: page.decisions.filter(({ clusterName }) => clusters.has(clusterName)),
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
 * A record has groups, not pages: missing clusters were most likely on missing pages, otherwise on
 * an existing one.
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
