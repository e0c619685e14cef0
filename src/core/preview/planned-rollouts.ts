import type { ManifestWorkReplicaSet } from '@berth/ocm/kind/manifest-work-replica-set';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { MANIFEST_WORK_REPLICA_SET } from '@berth/kube/model/kinds';
import { namespacedName } from '@berth/kube/model/object-ref';
import { decisionOwner } from '@berth/placement/prior/decision-owner';
import { decisionGroups } from '../rollout/rollout-groups.ts';
import { decisionPages } from './effects/decision-pages.ts';
import type { RolloutForecast } from './effects/plan-effects.ts';
import { forecastRollout } from './effects/rollout-forecast.ts';
import type { WorkloadPlan } from './plan.ts';
import type { PlanSide } from './plan-input.ts';
import { groupBy } from '@berth/runtime/lists/group-by';

/**
 * How new content of changed or moved replica sets reaches their clusters: one forecast for each of their placements.
 */
export function planRollouts(head: PlanSide, workloads: readonly WorkloadPlan[]): readonly RolloutForecast[] {
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
  const pages = decisionPages(head.results, head.published, head.snapshot.decisions);
  return groupBy(pages, (page) => decisionOwner(page) ?? '');
}
