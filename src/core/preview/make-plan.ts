import { diffObjects } from './object-changes.ts';
import { concernedClusters, planFleet } from './planned-fleet.ts';
import { planPlacements } from './placement-plans.ts';
import type { ObjectChange, Plan } from './plan.ts';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { PlanJudges, PlanSide } from './plan-input.ts';
import { NO_CLUSTER_IS_KNOWN } from './plan-text.ts';
import { planRollouts } from './planned-rollouts.ts';
import { planWorkloads } from './workload-plans.ts';

/** The plan between two sides. Both were scheduled at the same time with the same previous decisions. */
export function makePlan(base: PlanSide, head: PlanSide, judges: PlanJudges): Plan {
  const fleet = planFleet(base.snapshot, head.snapshot);
  const regions = new Map(fleet.map(({ name, region }) => [name, region]));
  const placements = planPlacements(base, head, judges, (cluster) => regions.get(cluster));
  const workloads = planWorkloads(base, head);
  const objects = markedOnHub(diffObjects(base.objects, head.objects), base);
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
    workloads,
    objects,
    deletionsHeld: [],
    lostFiles: [],
    applications: [],
    rollouts: planRollouts(head, workloads),
    findings: [],
    whatIf: [],
    clusters: concernedClusters(fleet, placements, head.snapshot, base.snapshot),
    fleet,
    notEvaluated: notEvaluated(base, head),
  };
}

/** The base has the clusters of the hub, if it is known. One of them that Git gets is not new. */
function markedOnHub(objects: readonly ObjectChange[], { snapshot }: PlanSide): readonly ObjectChange[] {
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
