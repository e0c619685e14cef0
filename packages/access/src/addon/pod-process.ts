import {
  apiVersionOf,
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  DEPLOYMENT,
  ROLE,
  ROLE_BINDING,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';

/** An agent shows by its lease that it lives. */
export const LEASE_RULE = {
  ...{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
};

/** A process of Berth in a pod, as account NAME in its namespace, with rights. */
export interface PodProcess {
  readonly namespace: string;
  /** Of its account, Deployment, Role and RoleBinding. */
  readonly name: string;
  /** Of its ClusterRole and ClusterRoleBinding. */
  readonly roleName: string;
  readonly image: string;
  /** Of the program `berth`. */
  readonly args: readonly string[];
  /** In all namespaces. */
  readonly clusterRules: readonly object[];
  /** In its own namespace. */
  readonly rules: readonly object[];
  /** With its name. */
  readonly container: { readonly name: string } & Readonly<Record<string, unknown>>;
  /** Of the Deployment. */
  readonly spec?: object | undefined;
}

/** The account, its rights, and the Deployment. */
export function podProcess(process: PodProcess): readonly KubeObject[] {
  const { namespace, name, roleName, clusterRules, rules } = process;
  const metadata = { namespace, name };
  const subjects = [{ kind: 'ServiceAccount', ...metadata }];
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      ...{ apiVersion: apiVersionOf(CLUSTER_ROLE), kind: CLUSTER_ROLE.kind, metadata: { name: roleName } },
      rules: clusterRules,
    },
    {
      ...{ apiVersion: apiVersionOf(CLUSTER_ROLE_BINDING), kind: CLUSTER_ROLE_BINDING.kind },
      metadata: { name: roleName },
      roleRef: { apiGroup: CLUSTER_ROLE.group, kind: CLUSTER_ROLE.kind, name: roleName },
      subjects,
    },
    ...boundRole(metadata, { rules, subjects }),
    deployment(process),
  ];
}

/** A Role, bound to these. */
export function boundRole(
  metadata: { readonly namespace: string; readonly name: string },
  { rules, subjects }: { readonly rules: readonly object[]; readonly subjects: readonly object[] },
): readonly KubeObject[] {
  const roleRef = { apiGroup: ROLE.group, kind: ROLE.kind, name: metadata.name };
  return [
    { apiVersion: apiVersionOf(ROLE), kind: ROLE.kind, metadata, rules },
    { apiVersion: apiVersionOf(ROLE_BINDING), kind: ROLE_BINDING.kind, metadata, roleRef, subjects },
  ];
}

function deployment({ namespace, name, image, args, container, spec }: PodProcess): KubeObject {
  const labels = { app: name };
  const own = {
    ...{ ...container, image, args },
    securityContext: {
      ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, runAsNonRoot: true },
      ...{ capabilities: { drop: ['ALL'] }, seccompProfile: { type: 'RuntimeDefault' } },
    },
  };
  const template = { metadata: { labels }, spec: { serviceAccountName: name, containers: [own] } };
  return {
    ...{ apiVersion: apiVersionOf(DEPLOYMENT), kind: DEPLOYMENT.kind, metadata: { namespace, name } },
    spec: { ...spec, selector: { matchLabels: labels }, template },
  };
}
