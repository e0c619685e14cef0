import { type AddOnDefinition, defineAddOn } from '@berth/addon';
import { apiVersionOf, CLUSTER_ROLE, kind, NAMESPACE, ROLE_BINDING } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { CLIENT_SIGNER } from '@berth/ocm/registration/names';
import { GATEWAY_GROUP, GATEWAY_VERSION } from '../rules/cluster-gateway.ts';
import { clusterManagementAddOn, managerRules } from './manager-rules.ts';
import { boundRole, podProcess } from './pod-process.ts';

/** The add-on, under OCM's name; and the account that it has in each cluster. */
export const CLUSTER_GATEWAYS = 'cluster-gateway';
const ROLE = `open-cluster-management:${CLUSTER_GATEWAYS}`;
/** Of Secrets that people write, as in OCM's chart. */
export const CREDENTIALS_NAMESPACE = 'open-cluster-management-credentials';
export const API_SERVICE = kind('apiregistration.k8s.io', 'v1', 'APIService', 'Cluster');
/** Of the certificate with which it serves. */
export const AUTHORITY_SECRET = 'cluster-gateway-authority';
const PORT = 9443;

/** The add-on that reaches clusters with the account that managed-serviceaccount keeps there. It runs nothing in a cluster. */
export function clusterGateways(): AddOnDefinition {
  return defineAddOn({ name: CLUSTER_GATEWAYS, health: 'none', manifests: async () => [] });
}

export function clusterGatewaysAddOn(): KubeObject {
  return clusterManagementAddOn(CLUSTER_GATEWAYS, 'serves the API servers of clusters as ClusterGateways');
}

/**
 * What tells an API server who serves ClusterGateways.
 * @param server undefined: nobody does yet
 */
export function gatewayApiService(server?: {
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number };
  /** Of its certificate. */
  readonly caPem: string;
}): KubeObject {
  return {
    ...{ apiVersion: apiVersionOf(API_SERVICE), kind: API_SERVICE.kind },
    metadata: { name: `${GATEWAY_VERSION}.${GATEWAY_GROUP}` },
    spec: {
      ...{ group: GATEWAY_GROUP, version: GATEWAY_VERSION, groupPriorityMinimum: 2000, versionPriority: 10 },
      ...(server !== undefined && {
        ...{ service: server.service, caBundle: Buffer.from(server.caPem).toString('base64') },
      }),
    },
  };
}

/** `berth gateway serve` in a pod of the hub, with its rights, its Service and its API. */
export function gatewayHubObjects({
  namespace,
  image,
}: {
  readonly namespace: string;
  readonly image: string;
}): readonly KubeObject[] {
  const metadata = { namespace, name: CLUSTER_GATEWAYS };
  const subjects = [{ kind: 'ServiceAccount', ...metadata }];
  const port = { name: 'gateway', port: 443, targetPort: PORT };
  return [
    { apiVersion: 'v1', kind: NAMESPACE.kind, metadata: { name: CREDENTIALS_NAMESPACE } },
    ...podProcess({
      ...{ namespace, name: CLUSTER_GATEWAYS, roleName: ROLE, image },
      args: [
        ...['gateway', 'serve', '--namespace', namespace, '--listen', `0.0.0.0:${PORT}`],
        ...['--service', CLUSTER_GATEWAYS],
      ],
      clusterRules: HUB_RULES,
      rules: [
        { apiGroups: [''], resources: ['secrets'], resourceNames: [AUTHORITY_SECRET], verbs: ['get'] },
        { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
        { apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] },
      ],
      container: {
        name: 'gateway',
        readinessProbe: { httpGet: { path: '/healthz', port: PORT, scheme: 'HTTPS' } },
      },
    }),
    ...boundRole(
      { namespace: CREDENTIALS_NAMESPACE, name: CLUSTER_GATEWAYS },
      {
        rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch', 'patch'] }],
        subjects,
      },
    ),
    {
      ...{ apiVersion: apiVersionOf(ROLE_BINDING), kind: ROLE_BINDING.kind },
      metadata: { namespace: 'kube-system', name: ROLE },
      roleRef: {
        apiGroup: CLUSTER_ROLE.group,
        kind: 'Role',
        name: 'extension-apiserver-authentication-reader',
      },
      subjects,
    },
    clusterGatewaysAddOn(),
    {
      ...{ apiVersion: 'v1', kind: 'Service', metadata },
      spec: { selector: { app: CLUSTER_GATEWAYS }, ports: [port] },
    },
    gatewayApiService(),
  ];
}

/** What `berth gateway serve` needs in all namespaces. Of Secrets it may see those of its own accounts alone. */
const HUB_RULES: readonly object[] = [
  ...managerRules(CLIENT_SIGNER),
  {
    apiGroups: ['authentication.open-cluster-management.io'],
    ...{ resources: ['managedserviceaccounts'], verbs: ['get', 'create'] },
  },
  {
    apiGroups: [''],
    ...{ resources: ['secrets'], resourceNames: [CLUSTER_GATEWAYS], verbs: ['list', 'watch', 'patch'] },
  },
  {
    apiGroups: [API_SERVICE.group],
    resources: ['apiservices'],
    ...{ resourceNames: [`${GATEWAY_VERSION}.${GATEWAY_GROUP}`], verbs: ['get', 'patch'] },
  },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
];
