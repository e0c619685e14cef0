import { isOwned } from '@berth/agent/rules/applied/ownership';
import { resolveManifestConfig } from '@berth/ocm/kind/manifest-config';
import { MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef, groupVersionOf, identityOf, refOf } from '@berth/kube/model/object-ref';
import type { ManifestWork, ManifestWorkSpec, ResourceIdentifier } from '@berth/ocm/kind/manifest-work';
import { REPLICA_SET_LABEL } from '@berth/ocm/kind/manifest-work-replica-set';
import { isLive } from '../../registration/health/is-live.ts';
import { formatCount, formatNames } from '../plan-text.ts';
import type { PlanFinding } from '../plan-verdict.ts';
import type { PlacedWorkload } from '../plan-input.ts';
import { placedWorkloads } from '../workload-plans.ts';
import { type Locate, removedClusters, type RiskInput, unregisteredClusters } from './risk-input.ts';

/** An object that a workload applied, and that clusters delete. */
interface LostObject {
  readonly object: KubeObject;
  readonly clusters: readonly string[];
}

const WORK_KINDS: readonly string[] = [MANIFEST_WORK.kind, MANIFEST_WORK_REPLICA_SET.kind];

/**
 * Objects with data that leave clusters: with their manifest, with the whole work, with a move, or with a cluster that is
 * unregistered while its agent works. Not those that another work still applies there. What runs on a cluster whose agent
 * is silent is not removed.
 */
export function dataRisks(input: RiskInput, locate: Locate): readonly PlanFinding[] {
  const leaving = leavingClusters(input);
  if (input.plan.workloads.length === 0 && leaving.size === 0) return [];
  const { before, after } = placedWorkloads(input.base, input.head);
  const losing = [...before].flatMap(([key, workload]) => {
    const lost = isWork(workload) ? lostOf(workload, after.get(key), leaving) : [];
    return lost.length === 0 ? [] : [{ workload, lost }];
  });
  if (losing.length === 0) return [];
  const applied = new AppliedObjects([...after.values()].filter(isWork), worksOfOthers(input), leaving);
  return losing.flatMap(({ workload, lost }) => {
    const remaining = lost
      .map(({ object, clusters }) => ({
        object,
        clusters: clusters.filter((cluster) => !applied.has(object, cluster)),
      }))
      .filter(({ clusters }) => clusters.length > 0);
    return findingsOf(workload.object, remaining, locate);
  });
}

/** Clusters that leave the fleet, and whether their agents remove what runs there. */
function leavingClusters(input: RiskInput): ReadonlyMap<string, boolean> {
  const removed = new Set(removedClusters(input.plan));
  const unregistered = unregisteredClusters(input);
  return new Map(
    input.base.snapshot.clusters
      .filter(({ metadata }) => removed.has(metadata.name))
      .map((cluster) => {
        const { name } = cluster.metadata;
        return [name, unregistered.has(name) && isLive(cluster)];
      }),
  );
}

function isWork({ object }: PlacedWorkload): boolean {
  return WORK_KINDS.includes(object.kind);
}

function lostOf(
  before: PlacedWorkload,
  after: PlacedWorkload | undefined,
  leaving: ReadonlyMap<string, boolean>,
): readonly LostObject[] {
  if (before.object === after?.object && before.clusters === after.clusters && leaving.size === 0) return [];
  const data = dataOfWork(contentOf(before.object));
  if (data.length === 0) return [];
  const stays = new Set(after?.clusters.filter((cluster) => !leaving.has(cluster)));
  const declared = new Set(manifestsOf(after?.object).map(identityOf));
  const clusters = [...new Set(before.clusters)].filter((cluster) => leaving.get(cluster) !== false).sort();
  return data.map((object) => ({
    object,
    clusters: clusters.filter((cluster) => !stays.has(cluster) || !declared.has(identityOf(object))),
  }));
}

/** The content of a work, or of the works of a replica set. */
function contentOf(workload: KubeObject): ManifestWorkSpec {
  const spec = (workload['spec'] ?? {}) as ManifestWorkSpec & {
    readonly manifestWorkTemplate?: ManifestWorkSpec;
  };
  return workload.kind === MANIFEST_WORK.kind ? spec : (spec.manifestWorkTemplate ?? {});
}

function manifestsOf(workload: KubeObject | undefined): readonly KubeObject[] {
  const manifests = workload === undefined ? [] : (contentOf(workload).workload?.manifests ?? []);
  return manifests.filter((manifest) => typeof manifest?.metadata?.name === 'string');
}

/** Works on the hub that no source and no replica set has made. */
function worksOfOthers({ base }: RiskInput): readonly ManifestWork[] {
  const declared = new Set(
    (base.onHub ?? base.objects).flatMap(({ object }) =>
      object.kind === MANIFEST_WORK.kind ? [`${object.metadata.namespace}/${object.metadata.name}`] : [],
    ),
  );
  return ((base.works ?? []) as readonly ManifestWork[]).filter(
    ({ metadata }) =>
      metadata.labels?.[REPLICA_SET_LABEL] === undefined &&
      !declared.has(`${metadata.namespace}/${metadata.name}`),
  );
}

/** What works apply on each cluster after the change. */
class AppliedObjects {
  /** By identity. */
  readonly #clusters = new Map<string, Set<string>>();

  constructor(
    workloads: readonly PlacedWorkload[],
    others: readonly ManifestWork[],
    leaving: ReadonlyMap<string, boolean>,
  ) {
    for (const { object, clusters } of workloads)
      this.#add(
        manifestsOf(object),
        clusters.filter((cluster) => !leaving.has(cluster)),
      );
    for (const { metadata, spec } of others)
      if (!leaving.has(metadata.namespace ?? ''))
        this.#add(spec?.workload?.manifests ?? [], [metadata.namespace ?? '']);
  }

  has(object: KubeObject, cluster: string): boolean {
    return this.#clusters.get(identityOf(object))?.has(cluster) === true;
  }

  #add(manifests: readonly KubeObject[], clusters: readonly string[]): void {
    for (const manifest of manifests) {
      const identity = identityOf(manifest);
      const known = this.#clusters.get(identity) ?? new Set();
      this.#clusters.set(identity, known);
      for (const cluster of clusters) known.add(cluster);
    }
  }
}

function findingsOf(
  workload: KubeObject,
  lost: readonly LostObject[],
  locate: Locate,
): readonly PlanFinding[] {
  const { kind, metadata } = workload;
  const { namespace = '', name } = metadata;
  const location = locate(kind, namespace, name);
  const deletedNamespaces = new Set(
    lost.flatMap(({ object }) => (object.kind === 'Namespace' ? [object.metadata.name] : [])),
  );
  return lost
    .filter(({ object }) => !deletedNamespaces.has(object.metadata.namespace ?? ''))
    .map(({ object, clusters }) => ({
      code: 'data-lost',
      severity: 'danger',
      subject: formatRef(refOf(workload)),
      message: `${formatRef(refOf(object))} is deleted on ${formatCount(clusters.length, 'cluster')}, ${whatGoes(object, workload)}: ${formatNames(clusters, 5)}.`,
      ...(location === undefined ? {} : { location }),
    }));
}

function whatGoes(object: KubeObject, workload: KubeObject): string {
  switch (object.kind) {
    case 'Namespace': {
      const inside = dataOfWork(contentOf(workload)).filter(
        ({ metadata }) => metadata.namespace === object.metadata.name,
      );
      const names = inside.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      const among = names.length === 0 ? '' : ` (among it ${formatNames(names, 5)} of this work)`;
      return `with all that is in it${among}`;
    }
    case 'CustomResourceDefinition':
      return 'with all objects of its kind';
    case 'StatefulSet':
      return 'with its claims and their data';
    default:
      return 'with its data, unless the volume is retained';
  }
}

/** Kinds of which deleting an object on a cluster loses data, and when. */
const DATA_KINDS: Readonly<Record<string, DataKind>> = {
  '/Namespace': { resource: 'namespaces', loses: () => true },
  '/PersistentVolumeClaim': { resource: 'persistentvolumeclaims', loses: () => true },
  // By default the volume outlives its object.
  '/PersistentVolume': {
    resource: 'persistentvolumes',
    loses: (object) => specOf(object)['persistentVolumeReclaimPolicy'] === 'Delete',
  },
  // By default the claims that it made stay.
  'apps/StatefulSet': {
    resource: 'statefulsets',
    loses: (object) => {
      const { volumeClaimTemplates, persistentVolumeClaimRetentionPolicy: policy } = specOf(object);
      const { whenDeleted } = (policy ?? {}) as { readonly whenDeleted?: unknown };
      return (
        Array.isArray(volumeClaimTemplates) && volumeClaimTemplates.length > 0 && whenDeleted === 'Delete'
      );
    },
  },
  'apiextensions.k8s.io/CustomResourceDefinition': {
    resource: 'customresourcedefinitions',
    loses: () => true,
  },
};

interface DataKind {
  /** The plural name, as rules of a work name it. */
  readonly resource: string;
  readonly loses: (object: KubeObject) => boolean;
}

/** Whether a manifest is an object whose deletion loses data. */
function holdsData(manifest: KubeObject): boolean {
  return DATA_KINDS[kindOf(manifest)]?.loses(manifest) === true;
}

/** The manifests whose objects go with the work, or with the manifest: not those that it orphans, or only reads. */
function dataOfWork({
  workload,
  deleteOption,
  manifestConfigs = [],
}: ManifestWorkSpec): readonly KubeObject[] {
  return (workload?.manifests ?? []).filter(isNamed).filter((manifest) => {
    if (!holdsData(manifest)) return false;
    const resource = resourceOf(manifest);
    const { updateStrategy } = resolveManifestConfig(manifestConfigs, resource);
    return isOwned(deleteOption, resource) && updateStrategy?.type !== 'ReadOnly';
  });
}

function resourceOf(manifest: KubeObject): ResourceIdentifier {
  const { name, namespace } = manifest.metadata;
  return {
    group: groupVersionOf(manifest.apiVersion).group,
    resource: DATA_KINDS[kindOf(manifest)]?.resource ?? '',
    name,
    namespace,
  };
}

function kindOf(manifest: KubeObject): string {
  return `${groupVersionOf(manifest.apiVersion).group}/${manifest.kind}`;
}

function specOf(object: KubeObject): Readonly<Record<string, unknown>> {
  return (object['spec'] ?? {}) as Readonly<Record<string, unknown>>;
}

/** An entry that is not an object is a problem of its file and not of the plan. */
function isNamed(manifest: KubeObject | undefined): manifest is KubeObject {
  const { apiVersion, kind, metadata } = (manifest ?? {}) as Partial<KubeObject>;
  return typeof apiVersion === 'string' && typeof kind === 'string' && typeof metadata?.name === 'string';
}
