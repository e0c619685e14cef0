import { CLUSTER_MANAGEMENT_ADDON } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  identityOf,
  namespacedName,
  objectIdentity,
  type ObjectRef,
  refOf,
} from '@berth/kube/model/object-ref';
import type { ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import {
  type ManifestWorkReplicaSet,
  REPLICA_SET_LABEL,
  WORK_PLACEMENT_LABEL,
} from '@berth/ocm/kind/manifest-work-replica-set';
import { takesWork } from '@berth/ocm/kind/managed-cluster';
import { clusterChange } from '@berth/placement/result/cluster-change';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import { compareText } from '@berth/runtime/text/compare-text';
import { ownerLabelValue } from '../work/replica-set/replica-set-child.ts';
import { applicationSetPlacements } from './application-set-placements.ts';
import { fieldChanges } from './effects/field-changes.ts';
import type { ManifestChange } from './effects/plan-effects.ts';
import type { PlacedWorkload, PlanSide } from './plan-input.ts';
import type { WorkloadPlan } from './plan.ts';

/** By `namespace/name` of a placement. */
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
  // Works may still follow what is published. That is no change of the merge.
  const settled = publishedOf(base);
  const before = workloadsOf(base, (set) =>
    works.after(set, set, { published: settled, ...clustersOf(base) }),
  );
  const onHub = (set: ManifestWorkReplicaSet): ManifestWorkReplicaSet | undefined =>
    before.get(identityOf(set as unknown as KubeObject))?.object as ManifestWorkReplicaSet | undefined;
  const then = { published: publishedOf(head), ...clustersOf(head) };
  const after = workloadsOf(head, (set) => works.after(set, onHub(set), then));
  return { before, after };
}

function clustersOf({ snapshot }: PlanSide): { readonly takingWork: ReadonlySet<string> } {
  return { takingWork: new Set(snapshot.clusters.filter(takesWork).map(({ metadata }) => metadata.name)) };
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
  const found = new Map<string, PlacedWorkload>(side.addOns);
  for (const { object } of side.onHub ?? side.objects) {
    if (side.addOns !== undefined && object.kind === CLUSTER_MANAGEMENT_ADDON.kind) continue;
    const workload = workloadOf(object, published, clustersOf);
    if (workload !== undefined) found.set(identityOf(object), workload);
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

/** Clusters of a replica set, by the name of the placement that selected them. */
type Works = ReadonlyMap<string, readonly string[]>;

/** The placements that the replica set refers to, each once. */
function placementNamesOf({ spec }: ManifestWorkReplicaSet): readonly string[] {
  return [...new Set(spec.placementRefs.map(({ name }) => name))];
}

/** `namespace/name` of each placement of a replica set. */
function placementsOf(replicaSet: ManifestWorkReplicaSet): readonly string[] {
  const { namespace } = replicaSet.metadata;
  return placementNamesOf(replicaSet).map((name) => namespacedName({ namespace, name }));
}

const NO_WORKS: Works = new Map();

/** The clusters on which replica sets have works, before a merge and after it: the rules of `planReplicaSet`. */
class ReplicaSetWorks {
  readonly #published: Published;
  /** By owner label. If undefined (unknown), the published clusters count. */
  readonly #works: ReadonlyMap<string, Works> | undefined;

  /** @param published before the merge */
  constructor(published: Published, works: PlanSide['works']) {
    this.#published = published;
    this.#works = works && worksByOwner(works);
  }

  /**
   * The clusters with the merge, or without it. If a placement is missing, the works that came from it stay, and so do the works of a placement that is no longer
   * referenced: the reference may be misspelt.
   * @param onHub the works before the merge; undefined if the replica set did not exist
   * @param then what is published, for each placement that exists, and the clusters for which works are made. A decision
   *   that is held may name others; their works stay, and no new ones are made
   */
  after(
    replicaSet: ManifestWorkReplicaSet,
    onHub: ManifestWorkReplicaSet | undefined,
    { published, takingWork }: { readonly published: Published; readonly takingWork: ReadonlySet<string> },
  ): readonly string[] {
    const works = onHub === undefined ? NO_WORKS : this.#worksOf(onHub);
    const referenced = placementNamesOf(replicaSet);
    // A work of another placement waits for its replacement, also where none is made.
    const existing = new Set([...works.values()].flat());
    const clustersAfter = placementsOf(replicaSet).map((key) =>
      published.get(key)?.filter((cluster) => takingWork.has(cluster) || existing.has(cluster)),
    );
    const selected = referenced.flatMap((name, at) => clustersAfter[at] ?? works.get(name) ?? []);
    if (!clustersAfter.includes(undefined)) return selected;
    const others = [...works].filter(([name]) => !referenced.includes(name));
    return [...selected, ...others.flatMap(([, clusters]) => clusters)];
  }

  #worksOf(replicaSet: ManifestWorkReplicaSet): Works {
    const { namespace } = replicaSet.metadata;
    if (this.#works !== undefined) return this.#works.get(ownerLabelValue(replicaSet.metadata)) ?? NO_WORKS;
    const publishedOf = (name: string): readonly string[] =>
      this.#published.get(namespacedName({ namespace, name })) ?? [];
    return new Map(placementNamesOf(replicaSet).map((name) => [name, publishedOf(name)]));
  }
}

function worksByOwner(works: NonNullable<PlanSide['works']>): ReadonlyMap<string, Works> {
  const owners = new Map<string, Map<string, string[]>>();
  for (const { metadata } of works) {
    const { [REPLICA_SET_LABEL]: owner, [WORK_PLACEMENT_LABEL]: placement = '' } = metadata.labels ?? {};
    if (owner === undefined) continue;
    const own = owners.get(owner) ?? new Map<string, string[]>();
    owners.set(owner, own);
    own.set(placement, [...(own.get(placement) ?? []), metadata.namespace ?? '']);
  }
  return owners;
}

/** The manifests that are added, removed or changed between two lists, by kind and name. Their order does not count. */
export function manifestChanges(
  before: readonly unknown[],
  after: readonly unknown[],
): readonly ManifestChange[] {
  const [old, now] = [byIdentity(before), byIdentity(after)];
  const changes: ManifestChange[] = [];
  for (const [key, { ref, manifest }] of now) {
    const existing = old.get(key);
    if (existing === undefined) changes.push({ change: 'created', ref, fields: [] });
    else if (existing.manifest !== manifest) {
      const fields = fieldChanges(existing.manifest, manifest);
      if (fields.length > 0) changes.push({ change: 'changed', ref, fields });
    }
  }
  for (const [key, { ref }] of old) if (!now.has(key)) changes.push({ change: 'deleted', ref, fields: [] });
  return changes.sort((a, b) => compareText(objectIdentity(a.ref), objectIdentity(b.ref)));
}

interface Named {
  readonly ref: ObjectRef;
  readonly manifest: unknown;
}

function byIdentity(manifests: readonly unknown[]): Map<string, Named> {
  const named = manifests.filter(isObject).map((manifest) => {
    const ref = refOf(manifest);
    return [objectIdentity(ref), { ref, manifest }] as const;
  });
  return new Map(named);
}

/** An entry that is not an object is a problem of its file and not of the plan. */
function isObject(manifest: unknown): manifest is KubeObject {
  const { apiVersion, kind, metadata } = (manifest ?? {}) as Partial<KubeObject>;
  return typeof apiVersion === 'string' && typeof kind === 'string' && typeof metadata?.name === 'string';
}

/**
 * The placements (`namespace/name`) in the install strategy of a ClusterManagementAddOn. OCM's add-on manager installs
 * the add-on on every cluster of their decisions, and removes it from clusters that leave. Empty for an add-on that is
 * installed by hand.
 */
export function addOnPlacements(addOn: KubeObject): readonly string[] {
  const { installStrategy } = (addOn['spec'] ?? {}) as {
    readonly installStrategy?: {
      readonly type?: unknown;
      readonly placements?: readonly { readonly namespace?: unknown; readonly name?: unknown }[];
    };
  };
  if (installStrategy?.type !== 'Placements' || !Array.isArray(installStrategy.placements)) return [];
  return [
    ...new Set(
      installStrategy.placements.map(({ namespace, name }) => `${String(namespace)}/${String(name)}`),
    ),
  ].sort();
}
