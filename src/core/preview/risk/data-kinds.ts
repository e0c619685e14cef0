import type { ManifestWorkSpec, ResourceIdentifier } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { isOwned } from '@berth/agent/rules/applied/ownership';
import { resolveManifestConfig } from '@berth/agent/rules/manifests/manifest-config';

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
export function holdsData(manifest: KubeObject): boolean {
  return DATA_KINDS[kindOf(manifest)]?.loses(manifest) === true;
}

/** The manifests whose objects go with the work, or with the manifest: not those that it orphans, or only reads. */
export function dataOfWork({
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
    group: groupOf(manifest),
    resource: DATA_KINDS[kindOf(manifest)]?.resource ?? '',
    name,
    namespace,
  };
}

function kindOf(manifest: KubeObject): string {
  return `${groupOf(manifest)}/${manifest.kind}`;
}

function groupOf({ apiVersion }: KubeObject): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
}

function specOf(object: KubeObject): Readonly<Record<string, unknown>> {
  return (object['spec'] ?? {}) as Readonly<Record<string, unknown>>;
}

/** An entry that is not an object is a problem of its file and not of the plan. */
function isNamed(manifest: KubeObject | undefined): manifest is KubeObject {
  const { apiVersion, kind, metadata } = (manifest ?? {}) as Partial<KubeObject>;
  return typeof apiVersion === 'string' && typeof kind === 'string' && typeof metadata?.name === 'string';
}
