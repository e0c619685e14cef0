import { apiVersionOf, CLUSTER_MANAGEMENT_ADDON } from '@berth/kube/model/kinds';
import type { ObjectMeta, OwnerReference } from '@berth/kube/model/object-meta';

/** What makes the API server delete the add-on of a cluster with its ClusterManagementAddOn. */
export function addOnOwner({ name, uid = '' }: ObjectMeta): OwnerReference {
  return {
    apiVersion: apiVersionOf(CLUSTER_MANAGEMENT_ADDON),
    kind: CLUSTER_MANAGEMENT_ADDON.kind,
    ...{ name, uid, controller: true, blockOwnerDeletion: true },
  };
}

/**
 * The owner references of a cluster's add-on with that of its ClusterManagementAddOn. One of an earlier object of that name is
 * replaced; others stay. As upstream, a controller of another kind stays the controller.
 * @returns undefined if nothing changes
 */
export function planOwners(addon: ObjectMeta, owner: ObjectMeta): readonly OwnerReference[] | undefined {
  const before = addon.ownerReferences ?? [];
  const wanted = addOnOwner(owner);
  const isOurs = ({ kind, name, apiVersion }: OwnerReference): boolean =>
    kind === wanted.kind &&
    name === wanted.name &&
    apiVersion.split('/')[0] === wanted.apiVersion.split('/')[0];
  const found = before.find(isOurs);
  const others = before.filter((one) => !isOurs(one));
  const controller = !others.some((one) => one.controller === true);
  if (found?.uid === wanted.uid && (found.controller ?? false) === controller) return undefined;
  return [...others, { ...wanted, controller }];
}
