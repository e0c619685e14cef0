import { isOfTemplate, readAddOn } from '@berth/addon/rules/addon-versions';
import { installPlacements, selectedClusters, selectionBy } from '@berth/addon/rules/plan-install';
import {
  CLUSTER_MANAGEMENT_ADDON,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { AddOnConfig, ClusterManagementAddOn } from '@berth/ocm/kind/addon';
import { takesWork } from '@berth/ocm/kind/managed-cluster';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { ADDON_NAME_LABEL } from '@berth/ocm/registration/names';
import { InputError } from '@berth/runtime/errors';
import { formatNameList } from '@berth/runtime/text/name-list';
import { enabledAddOn, type Enabling, whatGoes } from '../../../core/addon/enabling/enabled-addon.ts';
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

export interface PlannedConfigurations {
  /** What an add-on writes to use them. */
  readonly configs: readonly AddOnConfig[];
  readonly changes: readonly AddOnChange[];
}

/**
 * Configurations that come with an add-on: they are written first, then the add-on uses them.
 * @throws InputError for a kind that the hub does not have
 */
export async function planConfigurations(
  hub: KubeApi,
  manifests: readonly KubeObject[],
): Promise<PlannedConfigurations> {
  const configs: AddOnConfig[] = [];
  const changes: AddOnChange[] = [];
  for (const object of manifests) {
    const title = `${object.kind} ${namespacedName(object.metadata)}`;
    const kind = await hub.resolve(object.apiVersion, object.kind);
    if (kind === undefined)
      throw new InputError(`the hub has no kind ${object.kind} of ${object.apiVersion}`, {
        code: 'kube.notfound',
        subject: title,
      });
    const { name, namespace } = object.metadata;
    const before = await hub.get(kind, { namespace: namespace ?? '', name });
    if (before !== undefined) refuseFromGit(before);
    configs.push({
      group: kind.group,
      resource: kind.plural,
      name,
      ...(namespace !== undefined && { namespace }),
    });
    changes.push({
      line: `${title} is applied`,
      object,
      apply: async () => void (await hub.apply(kind, object, { ...CLI_FIELD_MANAGER, force: true })),
    });
  }
  return { configs, changes };
}

export interface DisableRequest {
  readonly names: readonly string[];
  /** Undefined: every cluster that has the add-on. */
  readonly clusters: ChosenClusters;
}

/**
 * Takes add-ons from clusters. The line of each change says what goes with the add-on.
 *
 * @throws InputError before anything is written: for a cluster that the hub does not have, and where a placement or Git would
 * bring the add-on back
 */
export async function planDisabling(
  hub: KubeApi,
  { names, clusters }: DisableRequest,
): Promise<readonly (SetChange | AddOnChange)[]> {
  for (const name of clusters ?? [])
    if ((await hub.get(MANAGED_CLUSTER, { namespace: '', name })) === undefined)
      throw new InputError('the hub has no such cluster', {
        code: 'kube.notfound',
        subject: `ManagedCluster ${name}`,
      });
  const changes: (SetChange | AddOnChange)[] = [];
  for (const name of names) {
    const installed = await addOnsOf(hub, name);
    const wanted = clusters ?? [...installed.keys()].sort();
    await refuseSelected(
      hub,
      name,
      wanted.filter((cluster) => installed.has(cluster)),
    );
    if (wanted.length === 0) changes.push({ line: `${name} add-on is in no cluster.` });
    const labelSelector = `${ADDON_NAME_LABEL}=${name}`;
    const works = (await hub.list(MANIFEST_WORK, { labelSelector })).items as readonly ManifestWork[];
    for (const cluster of wanted)
      changes.push(disabling(hub, name, cluster, { addon: installed.get(cluster), works }));
  }
  return changes;
}

function disabling(
  hub: KubeApi,
  name: string,
  cluster: string,
  { addon, works }: { readonly addon: KubeObject | undefined; readonly works: readonly ManifestWork[] },
): SetChange | AddOnChange {
  if (addon === undefined) return { line: `${name} add-on not found in cluster: ${cluster}.` };
  const { uid, deletionTimestamp } = addon.metadata;
  const details = whatGoes(addon, works);
  if (deletionTimestamp !== undefined)
    return {
      line: `${name} add-on is being removed from managed cluster: ${cluster}.`,
      details,
      object: addon,
    };
  refuseFromGit(addon);
  const deletion = { uid, propagationPolicy: 'Background' } as const;
  return {
    line: `Undeploying ${name} add-on in managed cluster: ${cluster}.`,
    details,
    object: addon,
    apply: async () => void (await hub.delete(MANAGED_CLUSTER_ADDON, { namespace: cluster, name }, deletion)),
  };
}

/** The manager of add-ons makes an add-on again where a placement selects the cluster. What a hold keeps elsewhere may go. */
async function refuseSelected(hub: KubeApi, name: string, clusters: readonly string[]): Promise<void> {
  const addOn = await hub.get(CLUSTER_MANAGEMENT_ADDON, { namespace: '', name });
  const placements = addOn && installPlacements(readAddOn(addOn));
  if (placements === undefined || clusters.length === 0) return;
  const { items } = await hub.list(PLACEMENT_DECISION);
  for (const placement of placements) {
    const { selected } = selectedClusters([placement], selectionBy(items));
    const cluster = clusters.find((one) => selected.has(one));
    if (cluster === undefined) continue;
    const key = `placement ${placement.namespace}/${placement.name}`;
    throw new InputError(`${key} selects cluster ${cluster}, so the add-on would come back`, {
      code: 'addon.placements',
      subject: `ClusterManagementAddOn ${name}`,
      hint: `change the placement, so that it does not select the cluster, or take it out of the add-on's installStrategy`,
    });
  }
}
