import { afterEach, describe, expect, it } from 'vitest';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { SecretStore } from '../../../packages/agent/src/registration/credentials/secret-store.ts';
import { FolderStore } from '../../../packages/agent/src/registration/credentials/folder-store.ts';
import { APPLIED_MANIFEST_WORK, CONFIG_MAP, MANIFEST_WORK, SECRET } from '@berth/kube/model/kinds';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { SteeredClock } from '../../fakes/steered-clock.ts';
import { RegistrationWorld } from './registration-world.ts';

const AVAILABLE = 'ManagedClusterConditionAvailable';
const KEY = { namespace: 'default', name: 'shared' };

describe('ways to run an agent', () => {
  const worlds: RegistrationWorld[] = [];
  afterEach(async () => {
    for (const world of worlds.splice(0).reverse()) await world.close();
  });
  async function world(
    members: readonly string[] = ['cluster1'],
    clock?: SteeredClock,
  ): Promise<RegistrationWorld> {
    const one = await RegistrationWorld.start(members, clock);
    worlds.push(one);
    return one;
  }
  async function joined({ hub }: RegistrationWorld, name = 'cluster1'): Promise<void> {
    await expect.poll(() => hub.requests(name)).toHaveLength(1);
    await hub.decide(name);
    await hub.accept(name);
    await expect.poll(() => hub.condition(name, AVAILABLE)).toBe('True');
  }
  const giveWork = ({ hub }: RegistrationWorld, namespace: string) =>
    hub.api.create(MANIFEST_WORK, {
      apiVersion: 'work.open-cluster-management.io/v1',
      kind: 'ManifestWork',
      metadata: { namespace, name: 'shared' },
      spec: { workload: { manifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: KEY }] } },
    });

  it.each([
    { first: 0, second: 1 },
    { first: 1, second: 0 },
  ])('two hubs share a cluster; hub $first gives up the object first', async ({ first, second }) => {
    const [left, right] = [await world(), await world()];
    const cluster = left.member();
    left.run({ cluster });
    right.run({ cluster, clusterName: 'of-right' });
    await joined(left);
    await joined(right, 'of-right');
    const hubs = [
      { at: left, namespace: 'cluster1' },
      { at: right, namespace: 'of-right' },
    ] as const;
    for (const { at, namespace } of hubs) await giveWork(at, namespace);
    const owners = async () => (await cluster.get(CONFIG_MAP, KEY))?.metadata.ownerReferences?.length;
    await expect.poll(owners).toBe(2);
    expect((await cluster.list(APPLIED_MANIFEST_WORK)).items).toHaveLength(2);
    const end = ({ at, namespace }: (typeof hubs)[number]) =>
      at.hub.api.delete(MANIFEST_WORK, { namespace, name: 'shared' });
    await end(hubs[first] ?? hubs[0]);
    await expect.poll(owners).toBe(1);
    await end(hubs[second] ?? hubs[1]);
    await expect.poll(() => cluster.get(CONFIG_MAP, KEY)).toBeUndefined();
  });

  it('hosted: the credentials are in a Secret of the hosting cluster, the managed cluster holds none', async () => {
    const one = await world(['hosting', 'cluster1']);
    const hosting = one.member('hosting');
    const key = { namespace: 'default', name: 'hub-kubeconfig-secret' };
    const run = () => one.run({ store: new SecretStore(hosting, key) });
    const agent = run();
    await joined(one);
    const secret = await hosting.get(SECRET, key);
    expect(Object.keys(secret?.['data'] as object).sort()).toEqual([
      'agent-name',
      'bootstrap-digest',
      'cluster-name',
      'kubeconfig',
      'tls.crt',
      'tls.key',
    ]);
    expect((await one.member().list(SECRET)).items).toEqual([]);
    await giveWork(one, 'cluster1');
    await expect.poll(() => one.member().get(CONFIG_MAP, KEY)).toBeDefined();
    await agent.stop();
    const lease = await one.hub.lease('cluster1');
    run();
    await expect.poll(() => one.hub.lease('cluster1')).not.toBe(lease);
    expect(await one.hub.requests('cluster1')).toHaveLength(1);
  });

  it('keeps the names that it made up', async () => {
    const one = await world();
    const first = one.run({ clusterName: undefined, cluster: one.member() });
    const names = async () =>
      (
        await one.hub.api.list({
          group: 'cluster.open-cluster-management.io',
          version: 'v1',
          kind: 'ManagedCluster',
          plural: 'managedclusters',
          namespaced: false,
        })
      ).items.map(({ metadata }) => metadata.name);
    await expect.poll(names).toHaveLength(1);
    await first.stop();
    const [name = ''] = await names();
    expect(name).toMatch(/^[0-9a-f]{8}-/);
    one.run({ clusterName: undefined, cluster: one.member() });
    await joined(one, name);
    expect(await names()).toEqual([name]);
  });

  describe('with a list of hubs', () => {
    async function two() {
      const clock = new SteeredClock();
      const [left, right] = [await world(['cluster1'], clock), await world(['cluster1'], clock)];
      const bootstraps = [left, right].map(
        ({ bootstrapFile }) =>
          () =>
            loadKubeConfig({ file: bootstrapFile, env: {} }),
      );
      const log = new SilentLogger();
      const run = () =>
        right.run({ bootstraps, cluster: right.member(), store: new FolderStore(right.folder('any'), log) });
      const agent = run();
      await joined(left);
      return { clock, left, right, agent, run };
    }

    it('goes to the next when one denies the cluster, and stays there when that one would have it again', async () => {
      const { clock, left, right } = await two();
      await left.hub.deny('cluster1');
      await joined(right);
      await left.hub.accept('cluster1');
      const lease = await right.hub.lease('cluster1');
      clock.skip(120_000);
      await expect.poll(() => right.hub.lease('cluster1')).not.toBe(lease);
      expect(await right.hub.requests('cluster1')).toHaveLength(1);
      expect(await left.hub.requests('cluster1')).toHaveLength(1);
    });

    it('goes to the next when one does not answer for too long', async () => {
      const { clock, left, right } = await two();
      worlds.splice(worlds.indexOf(left), 1);
      await left.close();
      await expect
        .poll(async () => {
          clock.skip(30_000);
          return (await right.hub.requests('cluster1')).length;
        })
        .toBe(1);
      await joined(right);
    });
  });
});
