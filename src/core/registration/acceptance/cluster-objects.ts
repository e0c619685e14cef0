import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  apiVersionOf,
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  type KindInfo,
  NAMESPACE,
  ROLE_BINDING,
} from '@berth/kube/model/kinds';
import { CLUSTER_NAME_LABEL, WORK_FINALIZER, clusterGroup } from '@berth/ocm/registration/names';
import type { DesiredObject } from '@berth/kube/model/object-writes';
import { acceptedRules, deniedRules, REGISTRATION_RULES, type RoleRule, WORK_RULES } from './agent-rules.ts';

const PREFIX = 'open-cluster-management:managedcluster';

/** The ClusterRoles that every accepted cluster shares, bound in its namespace. */
export const REGISTRATION_ROLE = `${PREFIX}:registration`;
export const WORK_ROLE = `${PREFIX}:work`;

/** Name of the ClusterRole of one cluster, and of its binding. */
export function clusterRoleName(cluster: string): string {
  return `${PREFIX}:${cluster}`;
}

export function registrationBindingName(cluster: string): string {
  return `${PREFIX}:${cluster}:registration`;
}

export function workBindingName(cluster: string): string {
  return `${PREFIX}:${cluster}:work`;
}

/**
 * The objects of an accepted cluster on the hub besides its ManagedCluster, in the order of writing.
 * Source: open-cluster-management.io/ocm `pkg/registration/hub/manifests/rbac`.
 */
export function acceptedObjects(cluster: string): readonly DesiredObject[] {
  return [
    objectOf(NAMESPACE, { name: cluster, labels: labelsOf(cluster) }),
    ...clusterWide(cluster, acceptedRules(cluster)),
    roleBinding(cluster, registrationBindingName(cluster), REGISTRATION_ROLE),
    roleBinding(cluster, workBindingName(cluster), WORK_ROLE, [WORK_FINALIZER]),
  ];
}

/** The objects of a denied cluster: the right to see that it is denied. */
export function deniedObjects(cluster: string): readonly DesiredObject[] {
  return clusterWide(cluster, deniedRules(cluster));
}

/** The roles that all clusters share. */
export function sharedRoles(): readonly DesiredObject[] {
  return [
    objectOf(CLUSTER_ROLE, { name: REGISTRATION_ROLE }, { rules: REGISTRATION_RULES }),
    objectOf(CLUSTER_ROLE, { name: WORK_ROLE }, { rules: WORK_RULES }),
  ];
}

function clusterWide(cluster: string, rules: readonly RoleRule[]): readonly DesiredObject[] {
  const metadata = { name: clusterRoleName(cluster), labels: labelsOf(cluster) };
  return [
    objectOf(CLUSTER_ROLE, metadata, { rules }),
    objectOf(CLUSTER_ROLE_BINDING, metadata, {
      roleRef: roleRef(metadata.name),
      subjects: subjects(cluster),
    }),
  ];
}

function roleBinding(
  cluster: string,
  name: string,
  role: string,
  finalizers?: readonly string[],
): DesiredObject {
  const metadata = { name, namespace: cluster, labels: labelsOf(cluster), ...(finalizers && { finalizers }) };
  return objectOf(ROLE_BINDING, metadata, { roleRef: roleRef(role), subjects: subjects(cluster) });
}

function objectOf(kind: KindInfo, metadata: KubeObject['metadata'], content: object = {}): DesiredObject {
  return { kind, object: { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, ...content } };
}

function labelsOf(cluster: string): Readonly<Record<string, string>> {
  return { [CLUSTER_NAME_LABEL]: cluster };
}

function roleRef(name: string): object {
  return { apiGroup: CLUSTER_ROLE.group, kind: CLUSTER_ROLE.kind, name };
}

/** The second group is for authentication without certificates. */
function subjects(cluster: string): readonly object[] {
  return [clusterGroup(cluster), `open-cluster-management:${cluster}`].map((name) => ({
    kind: 'Group',
    apiGroup: CLUSTER_ROLE.group,
    name,
  }));
}
