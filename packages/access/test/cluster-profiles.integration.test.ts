import { MANAGED_SERVICE_ACCOUNT } from '@berth/access/addon/managed-serviceaccount';
import {
  CONFIG_MAP,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  SECRET,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { secretTexts } from '@berth/kube/secret-texts';
import { expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { makeCliIo } from '../../../test/app/cli-harness.ts';
import { CLUSTER_PROFILE } from '../src/rules/cluster-profile.ts';
import { managedAccount, SYSTEM, withAccounts } from './account-world.ts';
import { namespace } from './access-world.ts';

const CLUSTER = 'cluster.open-cluster-management.io/v1beta2';
const SYNCED = { 'authentication.open-cluster-management.io/sync-to-clusterprofile': 'true' };

/** The set `edge` has the cluster, and is bound to the namespace `team`. */
async function bindSet(hub: KubeApi, clusters: readonly string[]): Promise<void> {
  await namespace(hub, 'team');
  await hub.create(MANAGED_CLUSTER_SET, {
    ...{ apiVersion: CLUSTER, kind: 'ManagedClusterSet', metadata: { name: 'edge' } },
    spec: { clusterSelector: { selectorType: 'ExclusiveClusterSetLabel' } },
  });
  const labels = { 'cluster.open-cluster-management.io/clusterset': 'edge' };
  for (const name of clusters)
    await hub.mergePatch(MANAGED_CLUSTER, { namespace: '', name }, { metadata: { labels } });
  const metadata = { namespace: 'team', name: 'edge' };
  await hub.create(MANAGED_CLUSTER_SET_BINDING, {
    ...{ apiVersion: CLUSTER, kind: 'ManagedClusterSetBinding', metadata, spec: { clusterSet: 'edge' } },
  });
}

/** As OCM's controllers say it. */
async function say(hub: KubeApi, isBound: boolean): Promise<void> {
  const [status, reason] = isBound ? ['True', 'ClusterSetBound'] : ['False', 'ClusterSetNotFound'];
  const condition = {
    type: 'Bound',
    status,
    reason,
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const patch = { status: { conditions: [condition] } };
  const key = { namespace: 'team', name: 'edge' };
  await hub.mergePatch(MANAGED_CLUSTER_SET_BINDING, key, patch, { subresource: 'status' });
}

const profile = (hub: KubeApi, name: string) => hub.get(CLUSTER_PROFILE, { namespace: 'team', name });
const copy = async (hub: KubeApi, name: string) => {
  const secret = await hub.get(SECRET, { namespace: 'team', name });
  return secret && secretTexts(secret)['token'];
};

async function credentials(kubeconfig: string, clusterName: string, account: string) {
  const info = {
    ...{ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' },
    spec: { interactive: false, cluster: { server: 'https://x', config: { clusterName } } },
  };
  const env = { NAMESPACE: 'team', KUBERNETES_EXEC_INFO: JSON.stringify(info) };
  const { io, stdout, stderr } = makeCliIo({ env });
  const args = ['credentials', '--managed-serviceaccount', account, '--kubeconfig', kubeconfig];
  return { code: await runCli(args, io), stdout: stdout(), stderr: stderr() };
}

it('a cluster has a profile in the namespaces of its set, with the way to it and the tokens that are copied', async () => {
  await withAccounts(
    async ({ hub, make, secretOf, waitFor, kubeconfigs }) => {
      await bindSet(hub, ['cluster1']);
      await say(hub, true);
      const data = { url: 'https://clusters.example.com:9092', 'ca.crt': 'the authority' };
      const metadata = { namespace: SYSTEM, name: 'cluster-proxy-user-server' };
      await hub.create(CONFIG_MAP, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
      const made = await waitFor(() => profile(hub, 'cluster1'));
      expect(made.metadata.labels).toEqual({
        'x-k8s.io/cluster-manager': 'open-cluster-management',
        'open-cluster-management.io/cluster-name': 'cluster1',
        'multicluster.x-k8s.io/clusterset': 'edge',
      });
      expect(made['spec']).toEqual({
        displayName: 'cluster1',
        clusterManager: { name: 'open-cluster-management' },
      });
      // Without the add-on there is no way to the cluster.
      await waitFor(async () => JSON.stringify(await profile(hub, 'cluster1')).includes('"Joined"'));
      expect(
        ((await profile(hub, 'cluster1'))?.['status'] as { accessProviders: object[] }).accessProviders,
      ).toEqual([]);
      await hub.create(MANAGED_CLUSTER_ADDON, {
        ...{ apiVersion: 'addon.open-cluster-management.io/v1alpha1', kind: 'ManagedClusterAddOn' },
        ...{ metadata: { namespace: 'cluster1', name: 'cluster-proxy' }, spec: {} },
      });
      await waitFor(async () =>
        JSON.stringify(await profile(hub, 'cluster1')).includes('clusters.example.com:9092/cluster1'),
      );
      const { accessProviders } = (await profile(hub, 'cluster1'))?.['status'] as {
        accessProviders: object[];
      };
      expect(accessProviders).toEqual([
        {
          name: 'open-cluster-management',
          cluster: {
            server: 'https://clusters.example.com:9092/cluster1',
            'certificate-authority-data': Buffer.from('the authority').toString('base64'),
            extensions: [
              { name: 'client.authentication.k8s.io/exec', extension: { clusterName: 'cluster1' } },
            ],
          },
        },
      ]);

      await make('secret-one');
      await make('deployer');
      const labelled = { metadata: { labels: SYNCED } };
      await hub.mergePatch(MANAGED_SERVICE_ACCOUNT, { namespace: 'cluster1', name: 'deployer' }, labelled);
      const token = await waitFor(() => copy(hub, 'cluster1-deployer'));
      expect(token).toBe((await secretOf('deployer'))?.['token']);
      expect(await copy(hub, 'cluster1-secret-one')).toBeUndefined();
      const printed = await credentials(kubeconfigs.hub, 'cluster1', 'deployer');
      expect(printed.code).toBe(0);
      expect(JSON.parse(printed.stdout)).toMatchObject({
        ...{ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' },
        status: { token },
      });
      await hub.delete(SECRET, { namespace: 'cluster1', name: 'deployer' });
      await waitFor(async () => {
        const now = (await secretOf('deployer'))?.['token'];
        return now !== undefined && now !== token && (await copy(hub, 'cluster1-deployer')) === now;
      });

      const foreign = { namespace: 'team', name: 'of-others' };
      await hub.create(CLUSTER_PROFILE, {
        ...{ apiVersion: 'multicluster.x-k8s.io/v1alpha1', kind: 'ClusterProfile', metadata: foreign },
        spec: { clusterManager: { name: 'somebody' } },
      });
      await say(hub, false);
      await waitFor(async () => (await profile(hub, 'cluster1')) === undefined);
      await waitFor(async () => (await copy(hub, 'cluster1-deployer')) === undefined);
      expect(await hub.get(CLUSTER_PROFILE, foreign)).toBeDefined();
    },
    ['cluster1'],
    true,
  );
});

it('a token never takes the place of that of another cluster, whose name with the account is the same', async () => {
  await withAccounts(
    async ({ hub, waitFor, logged, kubeconfigs }) => {
      await bindSet(hub, ['a', 'a-b']);
      await say(hub, true);
      const account = (cluster: string, name: string) => {
        const made = managedAccount(name, {}, cluster);
        return hub.create(MANAGED_SERVICE_ACCOUNT, {
          ...made,
          metadata: { ...made.metadata, labels: SYNCED },
        });
      };
      await account('a-b', 'c');
      const first = await waitFor(() => copy(hub, 'a-b-c'));
      await account('a', 'b-c');
      await waitFor(() => logged().includes('a Secret of somebody else has the name of a copied token'));
      expect(await copy(hub, 'a-b-c')).toBe(first);
      expect((await credentials(kubeconfigs.hub, 'a-b', 'c')).code).toBe(0);
      const other = await credentials(kubeconfigs.hub, 'a', 'b-c');
      expect([other.code, other.stdout]).toEqual([1, '']);
      expect(other.stderr).toContain('has no token of the cluster a');
    },
    ['a', 'a-b'],
    true,
  );
});
