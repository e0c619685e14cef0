import { namespacedName } from '@berth/kube/model/object-ref';
import type { Placement } from '@berth/ocm/kind/placement';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import { sameNumbers } from '@berth/placement/prior/numbered-clusters';
import { type ClusterChange, clusterChange } from '@berth/placement/result/cluster-change';
import { RELEASE_ANNOTATION } from '../publish/approval/publish-annotations.ts';
import { releaseTokens } from '../publish/approval/release-tokens.ts';
import { pairMoves } from './placement-moves.ts';
import type { PlacementPlan, PlacementSide } from './plan.ts';
import type { PlanJudges, PlanSide } from './plan-input.ts';

/** The region of a cluster by its name; undefined if it has none, or if it is unknown. */
type RegionOf = (cluster: string) => string | undefined;

/** The placements whose definition or decision the merge changes. */
export function planPlacements(
  base: PlanSide,
  head: PlanSide,
  judges: PlanJudges,
  regionOf: RegionOf,
): readonly PlacementPlan[] {
  const before = byKey(base.results);
  const after = byKey(head.results);
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort();
  return keys.flatMap((key) => {
    const plan = planPlacement(key, [before.get(key), after.get(key)], judges);
    return plan === undefined ? [] : [{ ...plan, moves: pairMoves(plan.removed, plan.added, regionOf) }];
  });
}

function planPlacement(
  key: string,
  [before, after]: readonly [before: ScheduleResult | undefined, after: ScheduleResult | undefined],
  judges: PlanJudges,
): Omit<PlacementPlan, 'moves'> | undefined {
  const placement = (after ?? before)?.placement;
  if (placement === undefined) return undefined;
  const old = before?.selected ?? [];
  const now = after?.selected ?? [];
  const { added, removed } = changeBetween(before, after);
  const regrouped = before === undefined || after === undefined ? [] : regroupedClusters(before, after);
  const definitionChanged =
    before !== undefined &&
    after !== undefined &&
    definition(before.placement) !== definition(after.placement);
  const sides = { before: sideOf(before), after: sideOf(after) };
  const moved = added.length + removed.length + regrouped.length > 0;
  if (before !== undefined && after !== undefined && !moved && !definitionChanged)
    if (sides.before?.outcome === sides.after?.outcome && sides.before?.message === sides.after?.message)
      return undefined;
  const gained = added.map((cluster) => ({ cluster, ...judges.explain(key, cluster, 'gained') }));
  const lost = removed.map((cluster) =>
    after === undefined
      ? { cluster, because: 'the placement is deleted', causes: [] }
      : { cluster, ...judges.explain(key, cluster, 'lost') },
  );
  const token = judges.token(key, old, now);
  const held =
    before === undefined || after === undefined
      ? undefined
      : judges.judge(key, old, after, definitionChanged);
  const isReleased =
    after !== undefined &&
    held === undefined &&
    lost.length > 0 &&
    releaseTokens(placement.metadata).includes(token);
  const isEdited = definitionChanged || before === undefined || after === undefined;
  return {
    namespace: placement.metadata.namespace ?? '',
    name: placement.metadata.name,
    change: before === undefined ? 'created' : after === undefined ? 'deleted' : 'changed',
    definitionChanged,
    ...sides,
    added: gained,
    removed: lost,
    kept: now.length - added.length,
    affectedBy: isEdited ? [] : [...new Set([...lost, ...gained].flatMap(({ causes }) => causes))].sort(),
    regrouped,
    held,
    ...(isReleased && { approvedBy: RELEASE_ANNOTATION }),
    token,
  };
}

function byKey(results: readonly ScheduleResult[]): Map<string, ScheduleResult> {
  return new Map(results.map((result) => [namespacedName(result.placement.metadata), result]));
}

function changeBetween(before: ScheduleResult | undefined, after: ScheduleResult | undefined): ClusterChange {
  const [old, now] = [before?.selected ?? [], after?.selected ?? []];
  // Most placements do not change, and some have thousands of clusters.
  if (sameNumbers(old, now) === true) return { added: [], removed: [] };
  return clusterChange(before ? inGroupOrder(before) : [], after ? inGroupOrder(after) : []);
}

/** The selected clusters. Both sides mostly have them in the order of a single group, and not in that of their ranks. */
function inGroupOrder(result: ScheduleResult): readonly string[] {
  const { selected } = result;
  const clusters = onlyGroup(result)?.clusters;
  return clusters?.length === selected.length ? clusters : selected;
}

/**
 * The parts of a placement that count as its definition: its spec, and the annotations for scheduling and publishing.
 */
function definition({ metadata, spec }: Placement): string {
  return canonicalJson([spec ?? {}, metadata.annotations ?? {}]);
}

function sideOf(result: ScheduleResult | undefined): PlacementSide | undefined {
  if (result === undefined) return undefined;
  const { outcome, selected, unscheduled, conditions, groups, spread = [] } = result;
  const telling =
    conditions.find(({ type, status }) => type === 'PlacementMisconfigured' && status === 'True') ??
    conditions.find(({ type, status }) => type === 'PlacementSatisfied' && status === 'False');
  return {
    outcome,
    selected: selected.length,
    clusters: selected,
    groups: groups.map(({ index, name, clusters }) => ({ index, name, clusters: clusters.length })),
    spread,
    unscheduled,
    message: telling?.message ?? '',
  };
}

function regroupedClusters(before: ScheduleResult, after: ScheduleResult): string[] {
  const isSame = ({ index, name, clusters }: ScheduleResult['groups'][number], at: number): boolean => {
    const other = after.groups[at];
    return index === other?.index && name === other.name && isSameList(clusters, other.clusters);
  };
  if (before.groups.length === after.groups.length && before.groups.every(isSame)) return [];
  const [one, other] = [onlyGroup(before), onlyGroup(after)];
  if (one !== undefined && one.index === other?.index && one.name === other.name) return [];
  const old = groupNames(before);
  return [...groupNames(after)]
    .filter(([cluster, group]) => (old.get(cluster) ?? group) !== group)
    .map(([name]) => name)
    .sort();
}

function onlyGroup({ groups }: ScheduleResult): ScheduleResult['groups'][number] | undefined {
  return groups.length === 1 ? groups[0] : undefined;
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((name, at) => name === b[at]));
}

function groupNames({ groups }: ScheduleResult): Map<string, string> {
  return new Map(
    groups.flatMap(({ index, name, clusters }) => clusters.map((cluster) => [cluster, `${index} ${name}`])),
  );
}
