import {
  CLUSTER_MANAGEMENT_ADDON,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { ADDON_NAME_LABEL } from '@berth/ocm/registration/names';
import { InputError } from '@berth/runtime/errors';
import { readAddOn } from '@berth/addon/rules/addon-versions';
import { whatGoes } from '../../../core/addon/enabling/what-goes.ts';
import { installPlacements, selectedClusters, selectionBy } from '@berth/addon/rules/plan-install';
import type { SetChange } from '../../cluster-sets/set-change.ts';
import { type AddOnChange, addOnsOf, type ChosenClusters, refuseFromGit } from './enable-addons.ts';

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
