import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManifestWorkReplicaSet } from '@berth/ocm/kind/manifest-work-replica-set';
import { MANAGED_CLUSTER, MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET } from '@berth/kube/model/kinds';
import { namespacedName } from '@berth/kube/model/object-ref';
import { isJoined, isLive } from '../../registration/health/is-live.ts';
import { applicationSetPlacements } from '../application-set-placements.ts';
import type { ApplicationSetPlan } from '../effects/plan-effects.ts';
import type { WorkloadPlan } from '../plan.ts';
import { formatCount, formatNames } from '../plan-text.ts';
import type { PlanFinding } from '../plan-verdict.ts';
import { type Locate, removedClusters, type RiskInput, unregisteredClusters } from './risk-input.ts';

/** Workloads that leave their last cluster, works whose removal no agent can confirm, and ApplicationSets that fail. */
export function workloadRisks(input: RiskInput, locate: Locate): readonly PlanFinding[] {
  const { plan } = input;
  return [
    ...plan.workloads.flatMap((workload) => lastCluster(workload, locate)),
    ...plan.applications.flatMap((set) => setRisks(set, locate)),
    ...leavingClusters(input, locate),
    ...strandedByPlacement(input, locate),
    ...unknownToArgo(input, locate),
  ];
}

function lastCluster(workload: WorkloadPlan, locate: Locate): readonly PlanFinding[] {
  const { kind, namespace, name, added, removed, kept, change } = workload;
  if (kind !== MANIFEST_WORK_REPLICA_SET.kind || removed.length === 0 || added.length + kept > 0) return [];
  const why =
    change === 'deleted' ? 'is deleted' : `leaves its last ${removed.length === 1 ? 'cluster' : 'clusters'}`;
  const message = `It ${why}: ${formatNames(removed, 5)}.`;
  return [finding('last-cluster', 'danger', { kind, namespace, name, message }, locate)];
}

function setRisks(set: ApplicationSetPlan, locate: Locate): PlanFinding[] {
  const { namespace, name, failure, kept, applications } = set;
  const about = { kind: 'ApplicationSet', namespace, name };
  if (failure !== undefined) {
    const stay = kept === 0 ? '' : ` Argo CD leaves its ${formatCount(kept, 'Application')} as they are.`;
    const message = `Argo CD will not generate its Applications: ${failure}.${stay}`;
    return [finding('applicationset-fails', 'warning', { ...about, message }, locate)];
  }
  const isEmptied =
    kept === 0 && applications.length > 0 && applications.every(({ change }) => change === 'deleted');
  if (!isEmptied) return [];
  const message = `All of its Applications are deleted: ${formatNames(
    applications.map(({ name: application }) => application),
    5,
  )}.`;
  return [finding('last-cluster', 'danger', { ...about, message }, locate)];
}

/**
 * Clusters that leave the fleet, or that wait for it: what happens to the registration, and to the workloads. Agents of
 * deleted clusters do not report, so that workloads can be reached only while the deletion is under way.
 */
function leavingClusters(input: RiskInput, locate: Locate): readonly PlanFinding[] {
  const { plan, base } = input;
  const unregistered = unregisteredClusters(input);
  const leaving = new Set([...removedClusters(plan), ...unregistered]);
  if (leaving.size === 0) return [];
  const workloads = workloadsOn(leaving, base);
  return base.snapshot.clusters.flatMap((cluster): readonly PlanFinding[] => {
    const { name } = cluster.metadata;
    if (!leaving.has(name)) return [];
    const about = { kind: MANAGED_CLUSTER.kind, namespace: '', name };
    const count = workloads.get(name) ?? 0;
    const message = unregistered.has(name) ? unregisteredText(cluster, count) : undefined;
    if (message !== undefined)
      return [finding('cluster-unregistered', 'danger', { ...about, message }, locate)];
    if (count === 0) return [];
    const stranded = `The cluster leaves the fleet with ${formatCount(count, 'workload')} on it: what runs there is not removed.`;
    return [finding('work-stranded', 'danger', { ...about, message: stranded }, locate)];
  });
}

/** @returns undefined if the cluster is not registered */
function unregisteredText(cluster: ManagedCluster, workloads: number): string | undefined {
  const count = formatCount(workloads, 'workload');
  if (isLive(cluster))
    return `The change unregisters a live cluster: its agent works, and loses its rights on the hub until the cluster joins again.${workloads === 0 ? '' : ` Its ${count} and what runs there are removed.`}`;
  if (!isJoined(cluster)) return undefined;
  return `The change unregisters a cluster whose agent is silent${workloads === 0 ? '' : `, with ${count} on it`}: what runs there is not removed, and the agent has no rights on the hub, if it comes back, until the cluster joins again.`;
}

/** How many workloads are on each of these clusters. */
function workloadsOn(clusters: ReadonlySet<string>, base: RiskInput['base']): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const published = base.published ?? new Map<string, readonly string[]>();
  for (const { object } of base.onHub ?? base.objects) {
    if (object.kind !== MANIFEST_WORK_REPLICA_SET.kind && object.kind !== MANIFEST_WORK.kind) continue;
    for (const cluster of clustersOf(object, published))
      if (clusters.has(cluster)) counts.set(cluster, (counts.get(cluster) ?? 0) + 1);
  }
  return counts;
}

function clustersOf(
  object: RiskInput['base']['objects'][number]['object'],
  published: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string> {
  const { namespace = '' } = object.metadata;
  if (object.kind === MANIFEST_WORK.kind) return new Set([namespace]);
  const { spec } = object as unknown as ManifestWorkReplicaSet;
  return new Set(
    (spec.placementRefs ?? []).flatMap(
      ({ name }) => published.get(namespacedName({ namespace, name })) ?? [],
    ),
  );
}

/** Works of a missing placement stay, and are no longer updated. */
function strandedByPlacement({ base, head }: RiskInput, locate: Locate): readonly PlanFinding[] {
  const keysOf = ({ results }: RiskInput['head']): ReadonlySet<string> =>
    new Set(results.map(({ placement }) => namespacedName(placement.metadata)));
  const [before, after] = [keysOf(base), keysOf(head)];
  return (head.onHub ?? head.objects).flatMap(({ object }) => {
    if (object.kind !== MANIFEST_WORK_REPLICA_SET.kind) return [];
    const { namespace = '', name } = object.metadata;
    const { spec } = object as unknown as ManifestWorkReplicaSet;
    const missing = (spec.placementRefs ?? [])
      .map((ref) => namespacedName({ namespace, name: ref.name }))
      .filter((key) => before.has(key) && !after.has(key));
    if (missing.length === 0) return [];
    const message = `It asks for ${formatNames(missing, 5)}, which is deleted: its works stay where they are.`;
    const about = { kind: MANIFEST_WORK_REPLICA_SET.kind, namespace, name, message };
    return [finding('work-stranded', 'danger', about, locate)];
  });
}

function unknownToArgo({ plan, head, argocdClusters }: RiskInput, locate: Locate): readonly PlanFinding[] {
  if (argocdClusters === undefined) return [];
  const gained = new Map(
    plan.placements.map((placement) => [
      namespacedName(placement),
      placement.added.map(({ cluster }) => cluster).filter((cluster) => !argocdClusters.has(cluster)),
    ]),
  );
  return (head.declared ?? head.objects).flatMap(({ object }) => {
    if (object.kind !== 'ApplicationSet') return [];
    const { namespace = '', name } = object.metadata;
    const unknown = applicationSetPlacements(object).flatMap((key) => gained.get(key) ?? []);
    if (unknown.length === 0) return [];
    const message = `Argo CD has no cluster Secret of ${formatNames(unknown, 5)}, so that nothing is deployed there.`;
    return [finding('unknown-to-argocd', 'warning', { kind: object.kind, namespace, name, message }, locate)];
  });
}

interface About {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly message: string;
}

function finding(
  code: PlanFinding['code'],
  severity: PlanFinding['severity'],
  { kind, namespace, name, message }: About,
  locate: Locate,
): PlanFinding {
  const location = locate(kind, namespace, name);
  const subject = `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`;
  return { code, severity, subject, message, ...(location === undefined ? {} : { location }) };
}
