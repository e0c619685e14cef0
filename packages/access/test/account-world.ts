import { runAccountAgent } from '@berth/access/agent/run-account-agent';
import { accountHubObjects, MANAGED_SERVICE_ACCOUNT } from '@berth/access/addon/managed-serviceaccount';
import { runAccountManager } from '@berth/access/server/run-account-manager';
import { type HubWorld, withHub } from '@berth/addon/testing';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { MANAGED_CLUSTER_ADDON, SECRET } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { requestToken } from '@berth/kube/request-token';
import { secretTexts } from '@berth/kube/secret-texts';
import { systemClock as clock } from '@berth/runtime/clock/system-clock';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { namespace } from './access-world.ts';

const IMAGE = 'example/berth:latest';
export const SYSTEM = 'open-cluster-management-hub';
export const ADDON_NAMESPACE = 'open-cluster-management-agent-addon';
const AGENT = { namespace: ADDON_NAMESPACE, name: 'managed-serviceaccount-agent' };

export interface AccountWorld extends HubWorld {
  /** All that the manager and the agents have logged, as text. */
  readonly logged: () => string;
  readonly make: (name: string, spec?: object) => Promise<KubeObject>;
  /** The texts of the Secret on the hub; undefined: there is none. */
  readonly secretOf: (name: string) => Promise<Readonly<Record<string, string>> | undefined>;
}

/** An API server, as an account of it, with exactly the rights that it has there. */
export async function asAccount(
  api: KubeApi,
  account: { readonly namespace: string; readonly name: string },
  kubeconfig: string,
) {
  const token = await requestToken(api, account, 3_600);
  const { clusters } = loadKubeConfig({ file: kubeconfig });
  const text = JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
    clusters: clusters.map(({ name, server, caData }) => ({
      name,
      cluster: { server, 'certificate-authority-data': caData },
    })),
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'c', context: { cluster: clusters[0]?.name, user: 'u' } }],
  });
  const config = loadKubeConfig({ text });
  return { config, api: new HttpKubeApi({ config, clock }) };
}

/** A hub with clusters, the manager and the agents of the add-on, each with the rights that it is installed with. */
export async function withAccounts(
  test: (world: AccountWorld) => Promise<void>,
  clusters: readonly string[] = ['cluster1'],
  withProfiles = false,
): Promise<void> {
  const log = new SilentLogger();
  const files: { of?: ReadonlyMap<string, string> } = {};
  const agent = async ({ cluster, clusterName, signal }: Parameters<Program>[0]): Promise<void> => {
    const own = await asAccount(cluster, AGENT, files.of?.get(clusterName) ?? '');
    try {
      await runAccountAgent({
        ...{ cluster: own.api, config: own.config, namespace: ADDON_NAMESPACE },
        ...{ clock, random: Math.random, log, signal },
      });
    } finally {
      own.api.close();
    }
  };
  await withHub(
    async (world) => {
      files.of = world.kubeconfigs.clusters;
      await namespace(world.hub, SYSTEM);
      for (const object of accountHubObjects({ namespace: SYSTEM, image: IMAGE, withProfiles })) {
        const kind = await world.hub.resolve(object.apiVersion, object.kind);
        if (kind !== undefined && object.kind !== 'CustomResourceDefinition')
          await world.hub.apply(kind, object, { fieldManager: 'test' });
      }
      const manager = await asAccount(
        world.hub,
        { namespace: SYSTEM, name: 'managed-serviceaccount' },
        world.kubeconfigs.hub,
      );
      world.run((signal) =>
        runAccountManager({
          ...{ hub: manager.api, image: IMAGE, clock, random: Math.random, log, signal },
          profiles: withProfiles ? { namespace: SYSTEM } : undefined,
        }),
      );
      for (const name of clusters) {
        const cluster = world.clusters.get(name);
        if (cluster !== undefined) await namespace(cluster, ADDON_NAMESPACE);
        await world.hub.create(MANAGED_CLUSTER_ADDON, {
          ...{ apiVersion: 'addon.open-cluster-management.io/v1alpha1', kind: 'ManagedClusterAddOn' },
          ...{ metadata: { namespace: name, name: 'managed-serviceaccount' }, spec: {} },
        });
      }
      try {
        await test({
          ...world,
          logged: () => JSON.stringify(log.entries, errorFields),
          make: (name, spec = {}) => world.hub.create(MANAGED_SERVICE_ACCOUNT, managedAccount(name, spec)),
          secretOf: async (name) => {
            const secret = await world.hub.get(SECRET, { namespace: 'cluster1', name });
            return secret && secretTexts(secret);
          },
        });
      } finally {
        manager.api.close();
      }
    },
    { clusters, programs: { [IMAGE]: agent }, patienceMs: PATIENCE_MS },
  );
}

type Program = NonNullable<NonNullable<Parameters<typeof withHub>[1]>['programs']>[string];

export function managedAccount(name: string, spec: object = {}, cluster = 'cluster1'): KubeObject {
  return {
    ...{ apiVersion: 'authentication.open-cluster-management.io/v1beta1', kind: 'ManagedServiceAccount' },
    ...{ metadata: { namespace: cluster, name }, spec: { rotation: {}, ...spec } },
  };
}

function errorFields(_key: string, value: unknown): unknown {
  return value instanceof Error ? `${value.name}: ${value.message} ${JSON.stringify(value)}` : value;
}
