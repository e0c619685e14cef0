import {
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  DEPLOYMENT,
  ROLE,
  ROLE_BINDING,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { CLUSTER_PROXY, SIGNER, USER_SERVER_CONFIG } from './cluster-proxy.ts';

const NAME = 'cluster-proxy';
const RBAC = CLUSTER_ROLE.group;
const ADDON = CLUSTER_MANAGEMENT_ADDON.group;
const USER_PORT = 9092;
const AGENT_PORT = 8091;

export interface HubObjectsOptions {
  readonly namespace: string;
  /** Of `berth`, on the hub and on clusters. */
  readonly image: string;
  /** `https://HOST:PORT` at which people reach the Service's port 9092. */
  readonly publicUrl: string;
  /** `HOST:PORT` at which clusters reach its port 8091. */
  readonly agentAddress: string;
}

/** `berth proxy serve` in a pod of the hub, with its rights, and its Service. How that is reached from outside is the hub's matter. */
export function hubObjects(options: HubObjectsOptions): readonly KubeObject[] {
  const { namespace } = options;
  const account = { kind: 'ServiceAccount', namespace, name: NAME };
  const metadata = { namespace, name: NAME };
  const role = { apiGroup: RBAC, kind: CLUSTER_ROLE.kind, name: `open-cluster-management:${NAME}` };
  const readers = [{ apiGroup: RBAC, kind: 'Group', name: 'system:authenticated' }];
  const labels = { app: NAME };
  const port = (name: string, number: number) => ({ name, port: number, targetPort: number });
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: apiVersionOf(CLUSTER_ROLE),
      kind: role.kind,
      metadata: { name: role.name },
      rules: HUB_RULES,
    },
    {
      ...{ apiVersion: apiVersionOf(CLUSTER_ROLE_BINDING), kind: CLUSTER_ROLE_BINDING.kind },
      ...{ metadata: { name: role.name }, roleRef: role, subjects: [account] },
    },
    ...binding(
      metadata,
      [account],
      [{ apiGroups: [''], resources: ['secrets', 'configmaps'], verbs: ['get', 'create', 'patch'] }],
    ),
    // Not secret: where the user server is, and its authority.
    ...binding({ namespace, name: `${NAME}-users` }, readers, [
      { apiGroups: [''], resources: ['configmaps'], resourceNames: [USER_SERVER_CONFIG], verbs: ['get'] },
    ]),
    {
      ...{ apiVersion: apiVersionOf(CLUSTER_MANAGEMENT_ADDON), kind: CLUSTER_MANAGEMENT_ADDON.kind },
      metadata: { name: CLUSTER_PROXY },
      spec: { addOnMeta: { displayName: CLUSTER_PROXY, description: 'reaches the API servers of clusters' } },
    },
    {
      ...{ apiVersion: 'v1', kind: 'Service', metadata },
      spec: { selector: labels, ports: [port('users', USER_PORT), port('agents', AGENT_PORT)] },
    },
    deployment(options, labels),
  ];
}

function binding(
  metadata: { readonly namespace: string; readonly name: string },
  subjects: readonly object[],
  rules: readonly object[],
): readonly KubeObject[] {
  const roleRef = { apiGroup: RBAC, kind: ROLE.kind, name: metadata.name };
  return [
    { apiVersion: apiVersionOf(ROLE), kind: ROLE.kind, metadata, rules },
    { apiVersion: apiVersionOf(ROLE_BINDING), kind: ROLE_BINDING.kind, metadata, roleRef, subjects },
  ];
}

function deployment(options: HubObjectsOptions, labels: Readonly<Record<string, string>>): KubeObject {
  const { namespace, image, publicUrl, agentAddress } = options;
  const args = [
    ...['proxy', 'serve', '--namespace', namespace, '--image', image],
    ...['--listen', `0.0.0.0:${USER_PORT}`, '--public-url', publicUrl],
    ...['--agent-listen', `0.0.0.0:${AGENT_PORT}`, '--agent-address', agentAddress],
  ];
  const container = {
    ...{ name: 'proxy', image, args },
    readinessProbe: { httpGet: { path: '/healthz', port: USER_PORT, scheme: 'HTTPS' } },
    securityContext: {
      ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, runAsNonRoot: true },
      capabilities: { drop: ['ALL'] },
    },
  };
  const spec = { serviceAccountName: NAME, containers: [container] };
  return {
    ...{ apiVersion: apiVersionOf(DEPLOYMENT), kind: DEPLOYMENT.kind, metadata: { namespace, name: NAME } },
    // One at a time: each agent is connected to one server.
    spec: {
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec },
    },
  };
}

/** What `berth proxy serve` needs in all namespaces: to manage the add-on, and to know users. */
const HUB_RULES: readonly object[] = [
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  {
    apiGroups: ['cluster.open-cluster-management.io'],
    resources: ['managedclusters'],
    verbs: ['get', 'list', 'watch'],
  },
  { apiGroups: [ADDON], resources: ['clustermanagementaddons'], verbs: ['get', 'list', 'watch', 'create'] },
  {
    apiGroups: [ADDON],
    resources: ['managedclusteraddons'],
    verbs: ['get', 'list', 'watch', 'patch', 'delete'],
  },
  {
    apiGroups: [ADDON],
    resources: ['clustermanagementaddons/status', 'managedclusteraddons/status'],
    verbs: ['patch'],
  },
  {
    apiGroups: [ADDON],
    resources: ['clustermanagementaddons/finalizers', 'managedclusteraddons/finalizers'],
    verbs: ['update'],
  },
  { apiGroups: [ADDON], resources: ['addondeploymentconfigs'], verbs: ['list', 'watch'] },
  {
    apiGroups: ['work.open-cluster-management.io'],
    ...{ resources: ['manifestworks'], verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'] },
  },
  { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['list', 'watch'] },
  {
    apiGroups: ['certificates.k8s.io'],
    resources: ['certificatesigningrequests/approval'],
    verbs: ['update'],
  },
  { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests/status'], verbs: ['patch'] },
  {
    apiGroups: ['certificates.k8s.io'],
    resources: ['signers'],
    resourceNames: [SIGNER],
    verbs: ['approve', 'sign'],
  },
  {
    apiGroups: [RBAC],
    ...{
      resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
      verbs: ['list', 'watch', 'delete'],
    },
  },
];
