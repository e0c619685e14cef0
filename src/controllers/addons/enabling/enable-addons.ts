import { CLUSTER_MANAGEMENT_ADDON, MANAGED_CLUSTER, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { ClusterManagementAddOn } from '@berth/ocm/kind/addon';
import { takesWork } from '@berth/ocm/kind/managed-cluster';
import { InputError } from '@berth/runtime/errors';
import { formatNameList } from '@berth/runtime/text/name-list';
import { isOfTemplate, readAddOn } from '@berth/addon/rules/addon-versions';
import { enabledAddOn, type Enabling } from '../../../core/addon/enabling/enabled-addon.ts';
import { installPlacements } from '@berth/addon/rules/plan-install';
import { APPLY_SET_PART_OF_LABEL } from '../../../core/sync/apply-set.ts';
import { CLI_FIELD_MANAGER, type SetChange } from '../../cluster-sets/set-change.ts';

/** Undefined: every cluster that the hub has accepted. */
export type ChosenClusters = readonly string[] | undefined;

export interface EnableRequest extends Enabling {
  readonly names: readonly string[];
  readonly clusters: ChosenClusters;
}

export interface AddOnChange extends SetChange {
  /** What the change does, a line each. */
  readonly details?: readonly string[];
  /** The ManagedClusterAddOn, as it is or will be. */
  readonly object: KubeObject;
}

/**
 * Enables add-ons on clusters by hand.
 *
 * @returns one change for each add-on and cluster
 * @throws InputError before anything is written: for an add-on or a cluster that the hub does not have, for one that is being
 * removed, and where placements decide, which would remove the add-on again
 */
export async function planEnabling(hub: KubeApi, request: EnableRequest): Promise<readonly AddOnChange[]> {
  const clusters = await chosenClusters(hub, request.clusters);
  const addOns = await Promise.all(request.names.map((name) => readKnownAddOn(hub, name)));
  const changes: AddOnChange[] = [];
  for (const addOn of addOns) {
    const { name } = addOn.metadata;
    const installed = await addOnsOf(hub, name);
    const placements = installPlacements(addOn);
    const left = clusters.filter((cluster) => !installed.has(cluster));
    if (placements !== undefined && left.length > 0)
      throw new InputError(
        `its placements decide on which clusters it is, so it would leave ${formatNameList(left)} again`,
        {
          code: 'addon.placements',
          subject: `ClusterManagementAddOn ${name}`,
          hint: `change ${placements.map((one) => `placement ${one.namespace}/${one.name}`).join(' or ')}, so that it selects these clusters`,
        },
      );
    for (const cluster of clusters)
      changes.push(enabling(hub, { addOn, cluster, before: installed.get(cluster) }, request));
  }
  return changes;
}

interface Place {
  readonly addOn: ClusterManagementAddOn;
  readonly cluster: string;
  readonly before: KubeObject | undefined;
}

function enabling(hub: KubeApi, { addOn, cluster, before }: Place, request: EnableRequest): AddOnChange {
  const { name } = addOn.metadata;
  if (before?.metadata.deletionTimestamp !== undefined)
    throw new InputError('is being removed', {
      code: 'addon.removing',
      subject: `add-on ${name} of cluster ${cluster}`,
      hint: 'enable it when it is gone: berth get addons shows when',
    });
  const { object, changed } = enabledAddOn({ name, cluster }, request, before);
  if (before === undefined)
    return {
      line: deployingLine(addOn, cluster, object),
      object,
      apply: async () => void (await hub.create(MANAGED_CLUSTER_ADDON, object, CLI_FIELD_MANAGER)),
    };
  if (changed.length === 0)
    return { line: `${name} add-on is enabled in managed cluster: ${cluster}.`, object };
  refuseFromGit(before);
  const { labels, annotations, uid, resourceVersion } = object.metadata;
  const patch = { metadata: { uid, resourceVersion, labels, annotations }, spec: object['spec'] };
  return {
    line: `Changing ${name} add-on in managed cluster: ${cluster} (${changed.join(', ')}).`,
    object,
    apply: async () =>
      void (await hub.mergePatch(
        MANAGED_CLUSTER_ADDON,
        { namespace: cluster, name },
        patch,
        CLI_FIELD_MANAGER,
      )),
  };
}

/** As clusteradm says it, but an AddOnTemplate or its configuration says where its add-on runs, whatever the add-on asks for. */
function deployingLine(addOn: ClusterManagementAddOn, cluster: string, object: KubeObject): string {
  const { name } = addOn.metadata;
  const { installNamespace } = object['spec'] as { readonly installNamespace: string };
  return isOfTemplate(addOn)
    ? `Deploying ${name} add-on to managed cluster: ${cluster}, in the namespace of its template.`
    : `Deploying ${name} add-on to namespaces ${installNamespace} of managed cluster: ${cluster}.`;
}

/**
 * The names of the clusters.
 * @throws InputError for one that is not there, or is being deleted
 */
export async function chosenClusters(hub: KubeApi, chosen: ChosenClusters): Promise<readonly string[]> {
  if (chosen === undefined) {
    const { items } = await hub.list(MANAGED_CLUSTER);
    const accepted = items.filter(
      (one) =>
        takesWork(one) &&
        (one['spec'] as { hubAcceptsClient?: boolean } | undefined)?.hubAcceptsClient === true,
    );
    return accepted.map(({ metadata }) => metadata.name).sort();
  }
  for (const name of chosen) {
    const cluster = await hub.get(MANAGED_CLUSTER, { namespace: '', name });
    const problem = cluster === undefined ? 'the hub has no such cluster' : 'is being deleted';
    if (!takesWork(cluster))
      throw new InputError(problem, { code: 'kube.notfound', subject: `ManagedCluster ${name}` });
  }
  return chosen;
}

async function readKnownAddOn(hub: KubeApi, name: string): Promise<ClusterManagementAddOn> {
  const object = await hub.get(CLUSTER_MANAGEMENT_ADDON, { namespace: '', name });
  if (object !== undefined) return readAddOn(object);
  const known = (await hub.list(CLUSTER_MANAGEMENT_ADDON)).items.map(({ metadata }) => metadata.name);
  throw new InputError(`enabling the unknown addon ${name} is not supported`, {
    code: 'kube.notfound',
    subject: `ClusterManagementAddOn ${name}`,
    hint:
      known.length === 0
        ? `the hub has no add-ons: berth addon create ${name} -f FOLDER makes one of manifests`
        : `the hub has ${formatNameList(known.sort())}`,
  });
}

/** The ManagedClusterAddOns of a name, by their clusters. */
export async function addOnsOf(hub: KubeApi, name: string): Promise<ReadonlyMap<string, KubeObject>> {
  const { items } = await hub.list(MANAGED_CLUSTER_ADDON, { fieldSelector: `metadata.name=${name}` });
  return new Map(items.map((addon) => [addon.metadata.namespace ?? '', addon]));
}

/** @throws InputError for an object that the sync of a source puts back */
export function refuseFromGit({ kind, metadata }: KubeObject): void {
  if (metadata.labels?.[APPLY_SET_PART_OF_LABEL] === undefined) return;
  throw new InputError('comes from Git, which would undo this change', {
    code: 'addon.from-git',
    subject: `${kind} ${namespacedName(metadata)}`,
    hint: 'change it in Git',
  });
}
