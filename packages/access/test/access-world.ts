import https from 'node:https';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type HubWorld, withHub } from '@berth/addon/testing';
import { runAccessAgent } from '@berth/access/agent/run-access-agent';
import { type AccessServer, startAccessServer } from '@berth/access/server/run-access-server';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import {
  CLUSTER_ROLE_BINDING,
  CONFIG_MAP,
  MANAGED_CLUSTER_ADDON,
  NAMESPACE,
  SERVICE_ACCOUNT,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { requestToken } from '@berth/kube/request-token';
import { systemClock as clock } from '@berth/runtime/clock/system-clock';
import { SILENT_LOG } from '@berth/runtime/logger';
import { PATIENCE_MS } from '@berth/test-kit/patience';

const IMAGE = 'example/berth:latest';
const LOOPBACK = { host: '127.0.0.1', port: 0 };
const SYSTEM = 'open-cluster-management-hub';

export interface AccessWorld extends HubWorld {
  readonly server: AccessServer;
  readonly ca: string;
  /** A token of a new account of the hub, in the namespace default. */
  readonly hubToken: (name: string) => Promise<string>;
  readonly ask: (path: string, options?: AskOptions) => Promise<Answer>;
  /** Until the tunnel of the cluster carries a request. */
  readonly whenOpen: (cluster: string, token: string) => Promise<void>;
}

export interface AskOptions {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly method?: string;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export interface AccessSetup {
  /** As whom the server works on the hub. Default: as its administrator. */
  readonly connect?: (hub: KubeApi, kubeconfig: string) => Promise<KubeApi & { close?: () => void }>;
}

/** A hub with clusters, the user server, and the add-on with its real agent on each of them. */
export async function withAccess(
  test: (world: AccessWorld) => Promise<void>,
  clusters: readonly string[],
  { connect = async (hub) => hub }: AccessSetup = {},
): Promise<void> {
  const files: { of?: ReadonlyMap<string, string> } = {};
  const agent = async ({
    cluster,
    clusterName,
    namespace,
    signal,
  }: Parameters<Program>[0]): Promise<void> => {
    const config = loadKubeConfig({ file: files.of?.get(clusterName) ?? '' });
    await runAccessAgent({ cluster, config, namespace, clock, random: Math.random, log: SILENT_LOG, signal });
  };
  await withHub(
    async (world) => {
      files.of = world.kubeconfigs.clusters;
      await namespace(world.hub, SYSTEM);
      const stop = new AbortController();
      const hub = await connect(world.hub, world.kubeconfigs.hub);
      const server = await startAccessServer({
        ...{ hub, namespace: SYSTEM, users: LOOPBACK, agents: LOOPBACK, image: IMAGE, replicas: 1 },
        ...{ clock, random: Math.random, log: SILENT_LOG, signal: stop.signal },
      });
      try {
        for (const name of clusters) await addTo(world, name);
        const config = await world.hub.get(CONFIG_MAP, {
          namespace: SYSTEM,
          name: 'cluster-proxy-user-server',
        });
        const ca = (config?.['data'] as { 'ca.crt': string })['ca.crt'];
        const ask = (path: string, options?: AskOptions) => request(`${server.url}${path}`, ca, options);
        await test({
          ...world,
          ...{ server, ca, ask },
          hubToken: (name) => accountToken(world.hub, name),
          whenOpen: async (cluster, token) =>
            void (await world.waitFor(
              async () => (await ask(`/${cluster}/version`, { token })).status === 200,
            )),
        });
      } finally {
        stop.abort();
        await server.ended;
        if (hub !== world.hub) hub.close?.();
      }
    },
    { clusters, programs: { [IMAGE]: agent }, patienceMs: PATIENCE_MS },
  );
}

type Program = NonNullable<NonNullable<Parameters<typeof withHub>[1]>['programs']>[string];

export async function addTo({ hub, clusters }: HubWorld, name: string): Promise<void> {
  const cluster = clusters.get(name);
  if (cluster !== undefined) await namespace(cluster, 'open-cluster-management-agent-addon');
  await hub.create(MANAGED_CLUSTER_ADDON, {
    ...{ apiVersion: 'addon.open-cluster-management.io/v1alpha1', kind: 'ManagedClusterAddOn' },
    metadata: { namespace: name, name: 'cluster-proxy' },
    spec: {},
  });
}

export async function namespace(api: KubeApi, name: string): Promise<void> {
  if ((await api.get(NAMESPACE, { namespace: '', name })) === undefined)
    await api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}

/** A token of an account in the namespace default, which is made. */
export async function accountToken(api: KubeApi, name: string): Promise<string> {
  const account = { namespace: 'default', name };
  if ((await api.get(SERVICE_ACCOUNT, account)) === undefined)
    await api.create(SERVICE_ACCOUNT, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
  return requestToken(api, account, 3_600);
}

/** Gives a user of the cluster a ClusterRole there. */
export async function bind(cluster: KubeApi, role: string, subject: object): Promise<void> {
  await cluster.create(CLUSTER_ROLE_BINDING, {
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding' },
    metadata: { name: `test-${role}-${Math.random().toString(36).slice(2)}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', ...subject }],
  });
}

/** Asks as it is: nothing in the path is resolved. */
export async function request(
  url: string,
  ca: string,
  { token, headers = {}, method = 'GET', body }: AskOptions = {},
): Promise<Answer> {
  const target = new URL(url);
  const call = https.request({
    ...{ host: target.hostname, port: target.port, method, ca, agent: false },
    // As it is: URL would take steps up out of the path.
    path: url.slice(url.indexOf('/', 'https://'.length)),
    headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
  });
  call.end(body);
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: Buffer.concat(parts).toString(),
  };
}
