import { ADDON_TEMPLATE, MANAGED_CLUSTER_ADDON, MANIFEST_WORK, ROLE_BINDING } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { expect, it } from 'vitest';
import { ADDON_DUTIES, type AddOnDuty } from '../../../src/core/addon/addon-duties.ts';
import { ADDON_GROUP, AddOnWorld } from './addon-world.ts';

const patience = { timeout: PATIENCE_MS };
const WORK = { namespace: 'c1', name: 'addon-web-deploy-0' };
const BINDING = { namespace: 'c1', name: 'open-cluster-management:web:clusterrole:agent' };

/** A cluster that a placement selects, and an add-on of a template whose agent has a right. */
async function worldWithAddOn(): Promise<AddOnWorld> {
  const world = await AddOnWorld.create();
  await world.clusters(['c1']);
  await world.placement('all', ['c1']);
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'here', name: 'of-addon' } };
  const currentCluster = { clusterRoleName: 'reader' };
  const kubeClient = { hubPermissions: [{ type: 'CurrentCluster', currentCluster }] };
  await world.make(ADDON_TEMPLATE, {
    metadata: { name: 'web-1' },
    spec: {
      ...{ addonName: 'web', agentSpec: { workload: { manifests: [manifest] } } },
      registration: [{ type: 'KubeClient', kubeClient }],
    },
  });
  const type = { group: ADDON_GROUP, resource: 'addontemplates' };
  await world.addOn('web', [{ name: 'all' }], {
    supportedConfigs: [{ ...type, defaultConfig: { name: 'web-1' } }],
  });
  return world;
}

/** Each version of the add-on of the cluster, from now on. */
function versionsOf(world: AddOnWorld, signal: AbortSignal): readonly KubeObject[] {
  const versions: KubeObject[] = [];
  void (async () => {
    for await (const event of world.api.watch(MANAGED_CLUSTER_ADDON, { resourceVersion: '0', signal }))
      if (event.type === 'added' || event.type === 'modified') versions.push(event.object);
  })().catch(() => undefined);
  return versions;
}

it('says all of a new add-on in one write, after its agent has its rights', async () => {
  const world = await worldWithAddOn();
  const stop = new AbortController();
  try {
    const versions = versionsOf(world, stop.signal);
    world.start(ADDON_DUTIES);
    await expect.poll(() => world.api.get(MANIFEST_WORK, WORK), patience).toBeDefined();
    await expect.poll(() => versions.length, patience).toBeGreaterThan(1);
    expect(versions.map(({ status }) => status !== undefined)).toEqual([false, true]);
    expect(versions[1]?.['status']).toMatchObject({
      ...{ healthCheck: { mode: 'Customized' }, namespace: 'open-cluster-management-agent-addon' },
      configReferences: [{ desiredConfig: { name: 'web-1' } }],
      registrations: [{ signerName: 'kubernetes.io/kube-apiserver-client' }],
      conditions: [
        { type: 'Configured', status: 'True' },
        { type: 'Progressing', reason: 'WaitingForManifestApplied' },
        { type: 'RegistrationApplied', reason: 'SetPermissionApplied' },
      ],
    });
    const binding = await world.api.get(ROLE_BINDING, BINDING);
    const [bound, said] = [binding, versions[1]].map((one) => Number(one?.metadata.resourceVersion));
    expect(bound).toBeLessThan(said ?? 0);
  } finally {
    stop.abort();
    await world.close();
  }
});

it('leaves the registration to another manager', async () => {
  const world = await worldWithAddOn();
  try {
    const duties: readonly AddOnDuty[] = ['install', 'configuration'];
    world.start(duties);
    const conditions = () => world.conditionsOf('c1', 'web');
    await expect
      .poll(conditions, patience)
      .toEqual(['Configured=True ConfigurationsConfigured', 'Progressing=False WaitingForManifestApplied']);
    expect(await world.api.get(ROLE_BINDING, BINDING)).toBeUndefined();
  } finally {
    await world.close();
  }
});
