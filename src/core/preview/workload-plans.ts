import { compareText } from '@berth/runtime/text/compare-text';
import type { ManifestWorkReplicaSet } from '@berth/ocm/kind/manifest-work-replica-set';
import type { ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import { clusterChange } from '@berth/placement/result/cluster-change';
import { addOnPlacements } from './addon-placements.ts';
import { applicationSetPlacements } from './application-set-placements.ts';
import { objectKeyOf } from './object-changes.ts';
import { manifestChanges } from './effects/manifest-changes.ts';
import type { WorkloadPlan } from './plan.ts';
import type { PlanSide } from './plan-input.ts';
import { placementsOf, ReplicaSetWorks } from './replica-set-works.ts';

/** A workload on one side: its clusters and its content. */
export interface PlacedWorkload {
  readonly object: KubeObject;
  readonly placements: readonly string[];
  readonly clusters: readonly string[];
}

type Published = ReadonlyMap<string, readonly string[]>;

/** Works, replica sets, ApplicationSets and add-ons that change or move. */
export function planWorkloads(base: PlanSide, head: PlanSide): readonly WorkloadPlan[] {
  const { before, after } = placedWorkloads(base, head);
  const keys = [...new Set([...before.keys(), ...after.keys()])];
  return keys.flatMap((key) => planWorkload(before.get(key), after.get(key)) ?? []).sort(byName);
}

/** All workloads of both sides with their clusters, by group, kind, namespace and name. */
export function placedWorkloads(
  base: PlanSide,
  head: PlanSide,
): Readonly<Record<'before' | 'after', ReadonlyMap<string, PlacedWorkload>>> {
  const works = new ReplicaSetWorks(publishedOf(base), base.works);
  const before = workloadsOf(base, (set) => works.before(set));
  const onHub = (set: ManifestWorkReplicaSet): ManifestWorkReplicaSet | undefined =>
    before.get(objectKeyOf(set as unknown as KubeObject))?.object as ManifestWorkReplicaSet | undefined;
  const published = publishedOf(head);
  const after = workloadsOf(head, (set) => works.after(set, onHub(set), published));
  return { before, after };
}

/** The clusters of each placement (`namespace/name`) that a side publishes. */
export function publishedOf({ published, results }: PlanSide): Published {
  return (
    published ??
    new Map(results.map((result) => [namespacedName(result.placement.metadata), result.selected]))
  );
}

function planWorkload(
  before: PlacedWorkload | undefined,
  after: PlacedWorkload | undefined,
): WorkloadPlan | undefined {
  const workload = after ?? before;
  if (workload === undefined) return undefined;
  const change = changeOf(before, after);
  if (change === 'moved' && before?.clusters === after?.clusters) return undefined;
  const now = [...new Set(after?.clusters)];
  const { added, removed } = clusterChange([...new Set(before?.clusters)], now);
  if (change === 'moved' && added.length + removed.length === 0) return undefined;
  const { kind, metadata } = workload.object;
  const manifests = change === 'changed' ? manifestChanges(manifestsOf(before), manifestsOf(after)) : [];
  const isNew = new Set(added);
  return {
    kind,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    change,
    placements: workload.placements,
    added,
    removed,
    kept: now.length - added.length,
    changedOn: manifests.length === 0 ? [] : now.filter((cluster) => !isNew.has(cluster)).sort(),
    manifestCount: manifestsOf(workload).length,
    manifests,
  };
}

function manifestsOf(workload: PlacedWorkload | undefined): readonly unknown[] {
  const spec = workload?.object['spec'] as Partial<ManifestWorkReplicaSet['spec']> & ManifestWorkSpec;
  const { manifestWorkTemplate = spec } = spec ?? {};
  return manifestWorkTemplate?.workload?.manifests ?? [];
}

function changeOf(
  before: PlacedWorkload | undefined,
  after: PlacedWorkload | undefined,
): WorkloadPlan['change'] {
  if (before === undefined) return 'created';
  if (after === undefined) return 'deleted';
  return canonicalJson(before.object['spec']) === canonicalJson(after.object['spec']) ? 'moved' : 'changed';
}

function workloadsOf(
  side: PlanSide,
  clustersOf: (replicaSet: ManifestWorkReplicaSet) => readonly string[],
): Map<string, PlacedWorkload> {
  const published = publishedOf(side);
  const found = new Map<string, PlacedWorkload>();
  for (const { object } of side.onHub ?? side.objects) {
    const workload = workloadOf(object, published, clustersOf);
    if (workload !== undefined) found.set(objectKeyOf(object), workload);
  }
  return found;
}

function workloadOf(
  object: KubeObject,
  published: Published,
  clustersOf: (replicaSet: ManifestWorkReplicaSet) => readonly string[],
): PlacedWorkload | undefined {
  switch (`${object.apiVersion.split('/')[0]} ${object.kind}`) {
    case 'work.open-cluster-management.io ManifestWorkReplicaSet': {
      const replicaSet = object as unknown as ManifestWorkReplicaSet;
      return { object, placements: placementsOf(replicaSet), clusters: clustersOf(replicaSet) };
    }
    case 'argoproj.io ApplicationSet':
      return following(object, applicationSetPlacements(object), published);
    case 'addon.open-cluster-management.io ClusterManagementAddOn':
      return following(object, addOnPlacements(object), published);
    case 'work.open-cluster-management.io ManifestWork':
      return { object, placements: [], clusters: [object.metadata.namespace ?? ''] };
    default:
      return undefined;
  }
}

/** The clusters of a workload that runs on all clusters of its placements; undefined if it has no placement. */
function following(
  object: KubeObject,
  placements: readonly string[],
  published: Published,
): PlacedWorkload | undefined {
  const [only] = placements;
  if (only === undefined) return undefined;
  // The same list as on the other side, if nothing changes.
  const clusters =
    placements.length === 1
      ? (published.get(only) ?? [])
      : placements.flatMap((key) => published.get(key) ?? []);
  return { object, placements, clusters };
}

function byName(a: WorkloadPlan, b: WorkloadPlan): number {
  return compareText(`${a.kind} ${a.namespace}/${a.name}`, `${b.kind} ${b.namespace}/${b.name}`);
}
