import {
  apiVersionOf,
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  type KindInfo,
  MANAGED_CLUSTER_ADDON,
  ROLE,
  ROLE_BINDING,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { DesiredObject } from '@berth/kube/model/object-writes';
import { ADDON_NAME_LABEL, CLUSTER_NAME_LABEL } from '@berth/ocm/registration/names';
import { done, failed, type Outcome } from '@berth/runtime/outcome';
import type { StoredAddOn } from './plan-registration.ts';

/** On the objects with the rights of an add-on written in code; its value is empty. */
export const PERMISSION_LABEL = 'berth.dev/addon-permission';
export const PERMISSION_KINDS: readonly KindInfo[] = [ROLE, ROLE_BINDING, CLUSTER_ROLE, CLUSTER_ROLE_BINDING];

/** The add-on that an object with rights was made for, as `CLUSTER/ADDON`; undefined: it is none of these. */
export function addOnOfPermission({ metadata: { labels = {} } }: KubeObject): string | undefined {
  const { [CLUSTER_NAME_LABEL]: cluster, [ADDON_NAME_LABEL]: addon } = labels;
  return labels[PERMISSION_LABEL] === undefined || !cluster || !addon ? undefined : `${cluster}/${addon}`;
}

/** An object with rights as it is written: marked, and in the cluster's namespace owned by the add-on, with which it goes. */
export function permissionObject({ metadata: of }: StoredAddOn, object: KubeObject): Outcome<DesiredObject> {
  const kind = PERMISSION_KINDS.find(
    (one) => one.kind === object.kind && apiVersionOf(one) === object.apiVersion,
  );
  if (kind === undefined)
    return failed(
      `${object.kind} of ${object.apiVersion} gives no rights: expected roles and their bindings`,
    );
  const { namespace: cluster = '', name, uid = '' } = of;
  const namespace = kind.namespaced ? (object.metadata.namespace ?? cluster) : undefined;
  if (namespace !== cluster && !object.metadata.name.includes(cluster))
    return failed(
      `${object.kind} ${object.metadata.name} is not in the namespace of the cluster: its name must contain ${cluster}, because each cluster has its own`,
    );
  const owner = {
    apiVersion: apiVersionOf(MANAGED_CLUSTER_ADDON),
    kind: MANAGED_CLUSTER_ADDON.kind,
    ...{ name, uid },
  };
  const metadata = {
    ...object.metadata,
    ...(namespace !== undefined && { namespace }),
    labels: {
      ...object.metadata.labels,
      [ADDON_NAME_LABEL]: name,
      [CLUSTER_NAME_LABEL]: cluster,
      [PERMISSION_LABEL]: '',
    },
    ...(namespace === cluster && { ownerReferences: [owner] }),
  };
  return done({ kind, object: { ...object, metadata } });
}
