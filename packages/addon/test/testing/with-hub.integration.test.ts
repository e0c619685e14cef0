import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  CLUSTER_MANAGEMENT_ADDON,
  CONFIG_MAP,
  DEPLOYMENT,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
  NAMESPACE,
  SECRET,
} from '@berth/kube/model/kinds';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { describe, expect, it } from 'vitest';
import { defineAddOn, runAddOnManager } from '@berth/addon';
import { type HubWorld, type RunningContainer, withHub } from '@berth/addon/testing';

const SETUP = { patienceMs: PATIENCE_MS };

const greeting = (name: string, data: Record<string, string>) => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name }, data },
});

const workOf = (cluster: string, manifests: readonly object[]) => ({
  apiVersion: 'work.open-cluster-management.io/v1',
  kind: 'ManifestWork',
  metadata: { namespace: cluster, name: 'work' },
  spec: { workload: { manifests } },
});

const IMAGE = 'example/agent:1';
const deployment = (args: readonly string[]) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'default', name: 'agent' },
  spec: {
    selector: { matchLabels: { app: 'agent' } },
    template: {
      metadata: { labels: { app: 'agent' } },
      spec: {
        containers: [
          {
            ...{ name: 'agent', image: IMAGE, command: ['run'], args },
            env: [{ name: 'COLOUR', value: 'blue' }],
            volumeMounts: [{ name: 'access', mountPath: '/access' }],
          },
        ],
        volumes: [{ name: 'access', secret: { secretName: 'access' } }],
      },
    },
  },
});

describe('withHub', () => {
  it('has clusters that joined, whose agents apply works, and returns what the test returns', async () => {
    const result = await withHub(
      async ({ hub, clusters, waitFor }) => {
        const joined = await hub.list(MANAGED_CLUSTER);
        for (const name of clusters.keys())
          await hub.create(MANIFEST_WORK, workOf(name, [greeting('from-hub', { to: name })]));
        for (const [name, cluster] of clusters) {
          const key = { namespace: 'default', name: 'from-hub' };
          expect(await waitFor(() => cluster.get(CONFIG_MAP, key))).toMatchObject({ data: { to: name } });
        }
        return joined.items.map(({ metadata }) => metadata.name);
      },
      { ...SETUP, clusters: 2 },
    );
    expect(result).toEqual(['cluster1', 'cluster2']);
  });

  it.each([
    { how: 'succeeds', end: () => Promise.resolve() },
    { how: 'fails', end: () => Promise.reject(new Error('the test failed')) },
  ])('closes everything and leaves no file when the test $how', async ({ end }) => {
    let world: HubWorld | undefined;
    let ended = false;
    const done = withHub(async (given) => {
      world = given;
      given.run(async (signal) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        ended = true;
      });
      expect(existsSync(given.kubeconfigs.hub)).toBe(true);
      await end();
    }, SETUP);
    await done.catch((error: Error) => expect(error.message).toBe('the test failed'));
    expect(world?.signal.aborted).toBe(true);
    expect(ended).toBe(true);
    expect(existsSync(dirname(world?.kubeconfigs.hub ?? ''))).toBe(false);
    await expect(world?.hub.list(NAMESPACE)).rejects.toThrow();
  });

  it('fails with what a task beside the test throws', async () => {
    const done = withHub(async ({ run, waitFor }) => {
      run(() => Promise.reject(new Error('the manager broke')));
      await waitFor(() => false);
    }, SETUP);
    await expect(done).rejects.toThrow('the manager broke');
  });

  it('fails when a task goes on after its signal aborted', async () => {
    const done = withHub(async ({ run }) => run(() => new Promise(() => undefined)), SETUP);
    await expect(done).rejects.toThrow('has not ended 5 s after its signal aborted');
  });

  it('says what it waited for, and what the last answer was', async () => {
    const wait = { patienceMs: 30 };
    await withHub(async ({ hub, waitFor }) => {
      const key = { namespace: 'default', name: 'never' };
      await expect(waitFor(() => hub.get(SECRET, key), wait)).rejects.toThrow(
        'waited 0.03 s for hub.get(SECRET, key): the last answer was undefined',
      );
      await expect(
        waitFor(() => Promise.reject(new Error('no route')), { ...wait, what: 'a way' }),
      ).rejects.toThrow('waited 0.03 s for a way: it threw: no route');
    }, SETUP);
  });

  it('says what is wrong with add-ons when the time is over', async () => {
    await withHub(async ({ hub, run, waitFor }) => {
      const manifests = () => Promise.reject(new Error('no chart here'));
      const addOns = [defineAddOn({ name: 'hello', manifests })];
      run((signal) => runAddOnManager({ hub, addOns, signal }));
      const apiVersion = 'addon.open-cluster-management.io/v1alpha1';
      await hub.create(CLUSTER_MANAGEMENT_ADDON, {
        ...{ apiVersion, kind: 'ClusterManagementAddOn', metadata: { name: 'hello' }, spec: {} },
      });
      const metadata = { namespace: 'cluster1', name: 'hello' };
      await hub.create(MANAGED_CLUSTER_ADDON, {
        apiVersion,
        kind: 'ManagedClusterAddOn',
        metadata,
        spec: {},
      });
      await waitFor(async () =>
        JSON.stringify(await hub.get(MANAGED_CLUSTER_ADDON, metadata)).includes('no chart here'),
      );
      await expect(waitFor(() => false, { what: 'it', patienceMs: 30 })).rejects.toThrow(
        /\nadd-on hello on cluster1: ManifestApplied is False: .*no chart here/,
      );
    }, SETUP);
  });

  it('is a plain hub without OCM', async () => {
    await withHub(
      async ({ hub, cluster, clusters }) => {
        expect([...clusters.keys()]).toEqual([]);
        expect(cluster).toBe(hub);
        expect(await hub.resolve('cluster.open-cluster-management.io/v1', 'ManagedCluster')).toBe(undefined);
        await hub.create(CONFIG_MAP, greeting('plain', {}));
      },
      { ...SETUP, ocm: false, clusters: [] },
    );
  });

  it('runs a function in the place of a container, and again when its template changes', async () => {
    const seen: (Pick<RunningContainer, 'args' | 'env' | 'mounts'> & { readonly ended: () => boolean })[] =
      [];
    const program = async ({ args, env, mounts, signal }: RunningContainer): Promise<void> => {
      seen.push({ args, env, mounts, ended: () => signal.aborted });
      if (args.includes('--broken')) throw new Error('no such flag');
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    };
    await withHub(
      async ({ cluster, waitFor }) => {
        await cluster.create(DEPLOYMENT, deployment(['--one']));
        await waitFor(
          async () =>
            (
              (await cluster.get(DEPLOYMENT, { namespace: 'default', name: 'agent' }))?.['status'] as {
                readonly readyReplicas?: number;
              }
            )?.readyReplicas,
        );
        expect(seen).toEqual([]);
        const access = { namespace: 'default', name: 'access' };
        await cluster.create(SECRET, { apiVersion: 'v1', kind: 'Secret', metadata: access });
        await waitFor(() => seen.length === 1);
        expect(seen[0]).toMatchObject({
          args: ['run', '--one'],
          env: { COLOUR: 'blue' },
          mounts: { '/access': access },
        });
        const { spec } = deployment(['--broken']);
        await cluster.mergePatch(DEPLOYMENT, { namespace: 'default', name: 'agent' }, { spec });
        await waitFor(() => seen.length > 2);
        expect(seen[0]?.ended()).toBe(true);
        await expect(waitFor(() => false, { what: 'nothing', patienceMs: 30 })).rejects.toThrow(
          'for nothing: the last answer was false\nthe program of default/agent on cluster1 failed: no such flag',
        );
        await cluster.delete(DEPLOYMENT, { namespace: 'default', name: 'agent' });
        await waitFor(() => seen.at(-1)?.ended());
      },
      { ...SETUP, programs: { [IMAGE]: program } },
    );
  });
});
