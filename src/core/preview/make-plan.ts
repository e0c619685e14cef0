import { MANAGED_CLUSTER, MANIFEST_WORK_REPLICA_SET } from '@berth/kube/model/kinds';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { ManifestWorkReplicaSet, RolloutStrategy } from '@berth/ocm/kind/manifest-work-replica-set';
import type { Placement } from '@berth/ocm/kind/placement';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { decisionOwner, sameNumbers } from '@berth/placement/prior/published-clusters';
import { type ClusterChange, clusterChange } from '@berth/placement/result/cluster-change';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import { groupBy } from '@berth/runtime/lists/group-by';
import { releaseCodes } from '../publish/approval/approved-plans.ts';
import { RELEASE_ANNOTATION } from '../publish/approval/publish-annotations.ts';
import { planRollout, decisionGroups } from '../rollout/plan-rollout.ts';
import {
  type ClusterRolloutStatus,
  type ParsedStrategy,
  parseRolloutStrategy,
  resolveSize,
  type RolloutGroup,
} from '../rollout/rollout-plan.ts';
import { decisionPages } from './effects/decision-pages.ts';
import type { RolloutForecast, ForecastBatch } from './effects/plan-effects.ts';
import { diffObjects } from './object-changes.ts';
import type { PlanJudges, PlanSide } from './plan-input.ts';
import { NO_CLUSTER_IS_KNOWN } from './plan-text.ts';
import type {
  ObjectChange,
  Plan,
  WorkloadPlan,
  PlacementPlan,
  PlacementSide,
  ClusterMove,
  PlacementMove,
} from './plan.ts';
import { concernedClusters, planFleet } from './planned-fleet.ts';
import { planWorkloads } from './workload-plans.ts';

/** The plan between two sides. Both were scheduled at the same time with the same previous decisions. */
export function makePlan(base: PlanSide, head: PlanSide, judges: PlanJudges): Plan {
  const fleet = planFleet(base.snapshot, head.snapshot);
  const regions = new Map(fleet.map(({ name, region }) => [name, region]));
  const placements = planPlacements(base, head, judges, (cluster) => regions.get(cluster));
  const workloads = planWorkloads(base, head);
  const held = { before: base.snapshot, after: head.snapshot };
  const objects = withPresence(diffObjects(base.objects, head.objects, held), base);
  return {
    base: base.end,
    head: head.end,
    now: head.snapshot.now,
    hasChanges: placements.length > 0 || objects.length > 0,
    summary: {
      placements: head.results.filter(({ outcome }) => outcome !== 'skipped').length,
      placementsChanged: placements.length,
      clusters: head.snapshot.clusters.length,
      added: sum(placements.map(({ added }) => added.length)),
      removed: sum(placements.map(({ removed }) => removed.length)),
      held: placements.filter(({ held }) => held !== undefined).length,
    },
    placements,
    waiting: [],
    later: [],
    workloads,
    objects,
    deletionsHeld: [],
    addOnsHeld: [],
    lostFiles: [],
    applications: [],
    rollouts: planRollouts(head, workloads),
    findings: [],
    whatIf: [],
    clusters: concernedClusters(fleet, placements, head.snapshot, base.snapshot),
    fleet,
    decisions: judges.tables(),
    notEvaluated: notEvaluated(base, head),
  };
}

/** The base has the clusters of the hub, if it is known. One of them that Git gets is not new. */
function withPresence(objects: readonly ObjectChange[], { snapshot }: PlanSide): readonly ObjectChange[] {
  const known = new Set(snapshot.clusters.map(({ metadata }) => metadata.name));
  return objects.map((object) => {
    const { change, ref } = object;
    const isKnown = change === 'created' && ref.kind === MANAGED_CLUSTER.kind && known.has(ref.name);
    return isKnown ? { ...object, isOnHub: true } : object;
  });
}

function notEvaluated(base: PlanSide, head: PlanSide): string[] {
  const notes: string[] = [];
  const clusters = base.snapshot.clusters.length + head.snapshot.clusters.length;
  if (clusters === 0 && base.results.length + head.results.length > 0) notes.push(NO_CLUSTER_IS_KNOWN);
  const silent = head.snapshot.clusters.filter(({ status }) => status === undefined).length;
  if (silent > 0)
    notes.push(
      `${silent} of ${head.snapshot.clusters.length} clusters have no recorded status: their claims and resources count as absent.`,
    );
  return notes;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** The region of a cluster by its name; undefined if it has none, or if it is unknown. */
type RegionOf = (cluster: string) => string | undefined;

/** The placements whose definition or decision the merge changes. */
function planPlacements(
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
  const code = judges.code(key, old, now);
  const held =
    before === undefined || after === undefined
      ? undefined
      : judges.judge(key, old, after, definitionChanged);
  const isReleased =
    after !== undefined &&
    held === undefined &&
    lost.length > 0 &&
    releaseCodes(placement.metadata).includes(code);
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
    token: code,
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

/** By the reason of a condition, whose message is the one of OCM's scheduler. */
const PLAIN_MESSAGES: Readonly<Record<string, string>> = {
  NoManagedClusterMatched: 'no cluster matches',
  NoManagedClusterSetBindings: 'the namespace is bound to no cluster set',
};

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
    message: PLAIN_MESSAGES[telling?.reason ?? ''] ?? telling?.message ?? '',
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

/**
 * Pairs each cluster that a placement loses with one that it gains: one in the same region if possible, otherwise the
 * next in the list. Clusters without a partner are only added or removed.
 */
export function pairMoves(
  removed: readonly ClusterMove[],
  added: readonly ClusterMove[],
  regionOf: (cluster: string) => string | undefined,
): readonly PlacementMove[] {
  const free = new Set(added);
  const partners = new Map<ClusterMove, ClusterMove>();
  const byRegion = groupBy(added, (move) => regionOf(move.cluster));
  for (const move of removed) {
    const near = byRegion.get(regionOf(move.cluster))?.shift();
    if (near === undefined) continue;
    partners.set(move, near);
    free.delete(near);
  }
  const rest = [...free];
  for (const move of removed) {
    const next = partners.has(move) ? undefined : rest.shift();
    if (next !== undefined) partners.set(move, next);
  }
  return removed.flatMap((from) => {
    const to = partners.get(from);
    return to === undefined ? [] : [moveOf(from, to)];
  });
}

function moveOf(from: ClusterMove, to: ClusterMove): PlacementMove {
  const { because, causes, why } = from;
  const isScored = from.points !== undefined && to.points !== undefined;
  const margin = isScored ? (to.points ?? 0) - (from.points ?? 0) : undefined;
  return { from: from.cluster, to: to.cluster, because, causes, ...(why !== undefined && { why }), margin };
}

/**
 * How new content of changed or moved replica sets reaches their clusters: one forecast for each of their placements.
 */
function planRollouts(head: PlanSide, workloads: readonly WorkloadPlan[]): readonly RolloutForecast[] {
  const rolledOut = workloads.filter(
    ({ kind, change, added, changedOn }) =>
      kind === MANIFEST_WORK_REPLICA_SET.kind && change !== 'deleted' && added.length + changedOn.length > 0,
  );
  if (rolledOut.length === 0) return [];
  const pages = pagesByPlacement(head);
  const objects = new Map(
    (head.onHub ?? head.objects)
      .filter(({ object }) => object.kind === MANIFEST_WORK_REPLICA_SET.kind)
      .map(({ object }) => [namespacedName(object.metadata), object as unknown as ManifestWorkReplicaSet]),
  );
  return rolledOut.flatMap((workload) => {
    const object = objects.get(namespacedName(workload));
    return object === undefined ? [] : forecastsOf(workload, object, pages);
  });
}

function forecastsOf(
  { kind, namespace, name, added, changedOn }: WorkloadPlan,
  { spec }: ManifestWorkReplicaSet,
  pages: ReadonlyMap<string, readonly PlacementDecision[]>,
): readonly RolloutForecast[] {
  const due = new Set([...added, ...changedOn]);
  return spec.placementRefs.flatMap((ref) => {
    const placement = namespacedName({ namespace, name: ref.name });
    const groups = decisionGroups(pages.get(placement) ?? []);
    if (!groups.ok) return [];
    const clusters = groups.value.flatMap((group) => group.clusters);
    const strategy = { ...ref.rolloutStrategy, type: ref.rolloutStrategy?.type ?? 'All' };
    const done = new Set(clusters.filter((cluster) => !due.has(cluster)));
    const forecast = forecastRollout({ strategy, groups: groups.value, done });
    const isEmpty = forecast.waves.length === 0 && forecast.problem === undefined;
    return isEmpty ? [] : [{ kind, namespace, name, placement, ...forecast }];
  });
}

function pagesByPlacement(head: PlanSide): ReadonlyMap<string, readonly PlacementDecision[]> {
  const pages = decisionPages({ ...head, existing: head.snapshot.decisions });
  return groupBy(pages, (page) => decisionOwner(page) ?? '');
}

interface ForecastInput {
  readonly strategy: RolloutStrategy;
  /** Every cluster of the placement after the change. */
  readonly groups: readonly RolloutGroup[];
  /** Clusters that have the content already. */
  readonly done: ReadonlySet<string>;
}

type Forecast = Pick<
  RolloutForecast,
  | 'strategy'
  | 'waves'
  | 'moreWaves'
  | 'shortestMs'
  | 'deadlineMs'
  | 'maxFailures'
  | 'hasMandatoryGroups'
  | 'problem'
>;

/** Each batch examines every cluster. For a huge rollout with small batches only the first batches are computed. */
const MAX_EXAMINED_CLUSTERS = 200_000;

const MAX_BATCHES = 200;

/**
 * The batches in which the clusters get new content, if each cluster succeeds at once. Uses the rules of the rollout,
 * with the clock advanced to the time when the last batch has succeeded for the required time.
 */
export function forecastRollout({ strategy, groups, done }: ForecastInput): Forecast {
  const parsed = parseRolloutStrategy(strategy);
  if (!parsed.ok) return { strategy: 'All', waves: [], moreWaves: 0, shortestMs: 0, problem: parsed.error };
  const { type } = parsed.value;
  const soakMs = parsed.value.type === 'All' ? 0 : parsed.value.soakMs;
  const known = groups.flatMap(({ clusters }) => clusters).filter((cluster) => done.has(cluster));
  // These clusters succeeded long ago, so they do not count toward the concurrency limit.
  const existing: ClusterRolloutStatus[] = known.map((clusterName) => ({
    clusterName,
    status: 'Succeeded',
    lastTransitionMs: -soakMs,
  }));
  const batches: ForecastBatch[] = [];
  const all = groups.flatMap(({ clusters }) => clusters).length;
  const maxBatches = Math.max(1, Math.min(MAX_BATCHES, Math.floor(MAX_EXAMINED_CLUSTERS / Math.max(1, all))));
  let nowMs = 0;
  while (batches.length < maxBatches) {
    const plan = planRollout({ strategy, groups, existing, nowMs });
    if (!plan.ok)
      return { strategy: type, waves: batches, moreWaves: 0, shortestMs: nowMs, problem: plan.error };
    const due = plan.value.rollout.filter(({ status }) => status === 'ToApply');
    const clusters = due.map(({ clusterName }) => clusterName);
    if (clusters.length === 0) break;
    batches.push({ clusters, startsAfterMs: nowMs });
    for (const clusterName of clusters)
      existing.push({ clusterName, status: 'Succeeded', lastTransitionMs: nowMs });
    nowMs += soakMs;
  }
  const left = Math.max(0, all - existing.length);
  const moreWaves = Math.ceil(left / Math.max(1, batches.at(-1)?.clusters.length ?? 1));
  const shortestMs = nowMs + moreWaves * soakMs;
  return { strategy: type, waves: batches, moreWaves, shortestMs, ...limitsOf(parsed.value, groups) };
}

function limitsOf(
  strategy: ParsedStrategy,
  groups: readonly RolloutGroup[],
): Pick<Forecast, 'deadlineMs' | 'maxFailures' | 'hasMandatoryGroups'> {
  if (strategy.type === 'All' || !Number.isFinite(strategy.deadlineMs)) return {};
  const { type, deadlineMs, maxFailures: size, mandatory } = strategy;
  const sizes = groups.map(({ clusters }) => clusters.length);
  const totals = type === 'Progressive' ? [sum(sizes)] : sizes;
  const [limit, ...others] = new Set(totals.map((total) => resolveSize(size, total, 0)));
  const maxFailures = others.length === 0 ? String(limit ?? 0) : `${size.value}${size.percent ? '%' : ''}`;
  return { deadlineMs, maxFailures, ...(mandatory.length > 0 && { hasMandatoryGroups: true }) };
}
