import { CLUSTER_ROLE } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { CLUSTER_PROXY, clusterProxyAddOn, SIGNER, USER_SERVER_CONFIG } from './cluster-proxy.ts';
import { managerRules } from './manager-rules.ts';
import { boundRole, podProcess } from './pod-process.ts';

const NAME = CLUSTER_PROXY;
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
  readonly replicas: number;
}

/** `berth proxy serve` in a pod of the hub, with its rights, and its Service. How that is reached from outside is the hub's matter. */
export function hubObjects({
  namespace,
  image,
  publicUrl,
  agentAddress,
  replicas,
}: HubObjectsOptions): readonly KubeObject[] {
  const port = (name: string, number: number) => ({ name, port: number, targetPort: number });
  return [
    ...podProcess({
      ...{ namespace, name: NAME, roleName: `open-cluster-management:${NAME}`, image },
      args: [
        ...['proxy', 'serve', '--namespace', namespace, '--image', image],
        ...['--listen', `0.0.0.0:${USER_PORT}`, '--public-url', publicUrl],
        ...['--agent-listen', `0.0.0.0:${AGENT_PORT}`, '--agent-address', agentAddress],
        ...['--replicas', String(replicas)],
      ],
      clusterRules: HUB_RULES,
      rules: [
        {
          apiGroups: ['', 'coordination.k8s.io'],
          ...{ resources: ['secrets', 'configmaps', 'leases'], verbs: ['get', 'create', 'patch'] },
        },
      ],
      container: {
        name: 'proxy',
        readinessProbe: { httpGet: { path: '/healthz', port: USER_PORT, scheme: 'HTTPS' } },
      },
      // Never more than agents look for.
      spec: { replicas, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } },
    }),
    // Not secret: where the user server is, and its authority.
    ...boundRole(
      { namespace, name: `${NAME}-users` },
      {
        rules: [
          {
            apiGroups: [''],
            resources: ['configmaps'],
            resourceNames: [USER_SERVER_CONFIG],
            verbs: ['get'],
          },
        ],
        subjects: [{ apiGroup: CLUSTER_ROLE.group, kind: 'Group', name: 'system:authenticated' }],
      },
    ),
    clusterProxyAddOn(),
    {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { namespace, name: NAME } },
      spec: { selector: { app: NAME }, ports: [port('users', USER_PORT), port('agents', AGENT_PORT)] },
    },
  ];
}

/** What `berth proxy serve` needs in all namespaces: to manage the add-on, and to know users. */
const HUB_RULES: readonly object[] = [
  ...managerRules(SIGNER),
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests/status'], verbs: ['patch'] },
  { apiGroups: ['certificates.k8s.io'], resources: ['signers'], resourceNames: [SIGNER], verbs: ['sign'] },
];
