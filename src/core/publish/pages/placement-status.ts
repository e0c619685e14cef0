import type { Condition } from '@berth/kube/model/object-meta';
import type { DecisionGroupStatus, PlacementStatus } from '@berth/ocm/kind/placement';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { type GroupKey, sameGroup } from './decision-page.ts';
import type { FinalPage } from './plan-pages.ts';

/**
 * The new status of a Placement; undefined if nothing changes. A condition keeps its transition
 * time while its status stays the same. Conditions of other writers are unchanged.
 * @param now RFC 3339, whole seconds
 */
export function planPlacementStatus(input: {
  readonly current: PlacementStatus | undefined;
  /** Undefined if another scheduler writes the pages. Then only conditions are set. */
  readonly pages: readonly FinalPage[] | undefined;
  readonly conditions: readonly Condition[];
  readonly now: string;
}): PlacementStatus | undefined {
  const { current, pages } = input;
  const conditions = mergeConditions(current?.conditions ?? [], input.conditions, input.now);
  const counted =
    pages === undefined
      ? {}
      : {
          numberOfSelectedClusters: pages.reduce((sum, page) => sum + page.decisions.length, 0),
          decisionGroups: groupStatuses(pages),
        };
  const next: PlacementStatus = { ...current, ...counted, conditions };
  return jsonEqual(current ?? {}, next) ? undefined : next;
}

/** One entry per group in index order, with the names of its pages in page order. */
function groupStatuses(pages: readonly FinalPage[]): readonly DecisionGroupStatus[] {
  const groups: (GroupKey & { decisions: string[]; clusterCount: number })[] = [];
  for (const page of pages) {
    let group = groups.find((candidate) => sameGroup(candidate, page.group));
    if (group === undefined) groups.push((group = { ...page.group, decisions: [], clusterCount: 0 }));
    group.decisions.push(page.name);
    group.clusterCount += page.decisions.length;
  }
  return groups
    .sort((a, b) => a.index - b.index)
    .map(({ index, name, decisions, clusterCount }) => ({
      decisionGroupIndex: index,
      decisionGroupName: name,
      decisions,
      clusterCount,
    }));
}

function mergeConditions(
  current: readonly Condition[],
  wanted: readonly Condition[],
  now: string,
): readonly Condition[] {
  const kept = current.map((before) => {
    const next = wanted.find((condition) => condition.type === before.type);
    if (next === undefined) return before;
    const lastTransitionTime = before.status === next.status ? (before.lastTransitionTime ?? now) : now;
    return { ...next, lastTransitionTime };
  });
  const added = wanted
    .filter((condition) => !current.some((before) => before.type === condition.type))
    .map((condition) => ({ ...condition, lastTransitionTime: now }));
  return [...kept, ...added];
}
