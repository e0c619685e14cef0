import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  EVENT,
  MANAGED_CLUSTER,
  MANIFEST_WORK,
  NAMESPACE,
  ROLE_BINDING,
} from '@berth/kube/model/kinds';
import { RegistrationWorld } from './registration-world.ts';

const ROLE = 'open-cluster-management:managedcluster:c1';
const FINALIZER = 'cluster.open-cluster-management.io/api-resource-cleanup';
const ACCEPTED = 'HubAcceptedManagedCluster=True/HubClusterAdminAccepted';
const DENIED = 'HubAcceptedManagedCluster=False/HubClusterAdminDenied';

let world: RegistrationWorld;
beforeEach(async () => {
  world = await RegistrationWorld.create({ duties: ['acceptance', 'cleanup'] });
});
afterEach(() => world.close());

const bindings = async (): Promise<readonly string[]> => {
  const { items } = await world.api.list(ROLE_BINDING, { namespace: 'c1' });
  return items.map(({ metadata }) => metadata.name.replace(`${ROLE}:`, '')).sort();
};
const verbsOnClusters = async (): Promise<unknown> =>
  ((await world.get(CLUSTER_ROLE, ROLE))?.['rules'] as { resources: string[]; verbs: string[] }[])
    .filter(({ resources }) => resources.includes('managedclusters'))
    .map(({ verbs }) => verbs);

async function acceptedCluster(): Promise<void> {
  await world.register('c1');
  await world.accept('c1');
  await expect.poll(() => world.conditions('c1')).toContain(ACCEPTED);
}

describe('acceptance', () => {
  it('gives a cluster nothing before it is accepted', async () => {
    await world.register('c1');
    await expect
      .poll(() => world.get(CLUSTER_ROLE, 'open-cluster-management:managedcluster:work'))
      .toBeDefined();
    expect(await world.get(NAMESPACE, 'c1')).toBeUndefined();
    expect(await world.get(CLUSTER_ROLE, ROLE)).toBeUndefined();
    expect(await world.conditions('c1')).toEqual([]);
  });

  it('makes namespace, roles, bindings and finalizer, and says so', async () => {
    await acceptedCluster();
    const labels = { 'open-cluster-management.io/cluster-name': 'c1' };
    expect(await world.get(NAMESPACE, 'c1')).toMatchObject({ metadata: { labels } });
    expect(await world.get(CLUSTER_ROLE, ROLE)).toMatchObject({ metadata: { labels } });
    expect(await world.get(CLUSTER_ROLE_BINDING, ROLE)).toMatchObject({
      roleRef: { kind: 'ClusterRole', name: ROLE },
      subjects: [
        { kind: 'Group', name: 'system:open-cluster-management:c1' },
        { kind: 'Group', name: 'open-cluster-management:c1' },
      ],
    });
    expect(await bindings()).toEqual(['registration', 'work']);
    expect((await world.get(ROLE_BINDING, `${ROLE}:work`, 'c1'))?.metadata.finalizers).toEqual([
      'cluster.open-cluster-management.io/manifest-work-cleanup',
    ]);
    expect((await world.get(MANAGED_CLUSTER, 'c1'))?.metadata.finalizers).toContain(FINALIZER);
    expect(world.events).toContainEqual({ action: 'accepted', cluster: 'c1' });
    await expect
      .poll(async () => (await world.api.list(EVENT, { namespace: 'c1' })).items)
      .toMatchObject([
        { reason: 'ManagedClusterAccepted', regarding: { kind: 'ManagedCluster', name: 'c1' } },
      ]);
  });

  it.each([
    ['a binding', ROLE_BINDING, `${ROLE}:registration`, 'c1'],
    ['the role', CLUSTER_ROLE, ROLE, ''],
  ] as const)('makes %s again that somebody deleted', async (_, kind, name, namespace) => {
    await acceptedCluster();
    const before = (await world.get(kind, name, namespace))?.metadata.uid;
    await world.api.delete(kind, { namespace, name });
    await expect.poll(async () => (await world.get(kind, name, namespace))?.metadata.uid).toBeDefined();
    expect((await world.get(kind, name, namespace))?.metadata.uid).not.toBe(before);
  });

  it('takes rights away that somebody added', async () => {
    await acceptedCluster();
    await world.patch(CLUSTER_ROLE, ROLE, { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] });
    await expect.poll(verbsOnClusters).toEqual([['get', 'list', 'update', 'watch']]);
  });

  it('refuses the name whose group is the one of all agents', async () => {
    await world.register('managed-clusters');
    await world.accept('managed-clusters');
    await expect
      .poll(() => world.conditions('managed-clusters'))
      .toEqual(['HubAcceptedManagedCluster=False/Error']);
    expect(await world.get(NAMESPACE, 'managed-clusters')).toBeUndefined();
  });
});

describe('a cluster that is denied', () => {
  it('keeps its namespace and the right to see that it is denied, and is accepted again', async () => {
    await acceptedCluster();
    await world.accept('c1', false);
    await expect.poll(() => world.conditions('c1')).toContain(DENIED);
    await expect.poll(bindings).toEqual([]);
    expect(await verbsOnClusters()).toEqual([['get', 'list', 'watch']]);
    expect(await world.get(NAMESPACE, 'c1')).toBeDefined();
    expect(await world.get(CLUSTER_ROLE_BINDING, ROLE)).toBeDefined();
    await world.accept('c1');
    await expect.poll(() => world.conditions('c1')).toContain(ACCEPTED);
    await expect.poll(bindings).toEqual(['registration', 'work']);
  });

  it('is shown as denied at once, and keeps the binding of its work agent while works are left', async () => {
    await acceptedCluster();
    await world.work('c1', 'w1');
    await world.accept('c1', false);
    await expect.poll(() => world.conditions('c1')).toContain(DENIED);
    await expect.poll(bindings).toEqual(['work']);
    // Accepted again meanwhile: the binding that is going is replaced.
    await world.accept('c1');
    await expect.poll(bindings).toEqual(['registration', 'work']);
    const binding = await world.get(ROLE_BINDING, `${ROLE}:work`, 'c1');
    expect(binding?.metadata.deletionTimestamp).toBeUndefined();
  });
});

describe('a cluster that is deleted', () => {
  it('is gone at once when it holds nothing, and keeps its namespace', async () => {
    await acceptedCluster();
    await world.api.delete(MANAGED_CLUSTER, { namespace: '', name: 'c1' });
    await expect.poll(() => world.get(MANAGED_CLUSTER, 'c1')).toBeUndefined();
    await expect.poll(bindings).toEqual([]);
    expect(await world.get(CLUSTER_ROLE, ROLE)).toBeUndefined();
    expect(await world.get(NAMESPACE, 'c1')).toBeDefined();
    await expect
      .poll(() => world.get(CLUSTER_ROLE, 'open-cluster-management:managedcluster:work'))
      .toBeUndefined();
  });

  it('waits for its works, by priority, while the work agent keeps its right', async () => {
    await acceptedCluster();
    const finalizers = ['example.org/held'];
    await world.work('c1', 'first', { finalizers });
    await world.work('c1', 'second', {
      finalizers,
      annotations: { 'open-cluster-management.io/cleanup-priority': '10' },
    });
    await world.api.delete(MANAGED_CLUSTER, { namespace: '', name: 'c1' });
    await expect.poll(() => world.conditions('c1')).toContain('Deleting=False/ResourceRemaining');
    await expect.poll(bindings).toEqual(['work']);
    const leaving = async (): Promise<readonly string[]> =>
      (await world.api.list(MANIFEST_WORK, { namespace: 'c1' })).items
        .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
        .map(({ metadata }) => metadata.name);
    await expect.poll(leaving).toEqual(['first']);
    await world.patch(MANIFEST_WORK, 'first', { metadata: { finalizers: [] } }, 'c1');
    await expect.poll(leaving).toEqual(['second']);
    await world.patch(MANIFEST_WORK, 'second', { metadata: { finalizers: [] } }, 'c1');
    await expect.poll(() => world.get(MANAGED_CLUSTER, 'c1')).toBeUndefined();
    await expect.poll(bindings).toEqual([]);
  });
});

it('writes nothing after a restart', async () => {
  await acceptedCluster();
  await world.stop();
  const version = async (): Promise<unknown> => [
    (await world.get(MANAGED_CLUSTER, 'c1'))?.metadata.resourceVersion,
    (await world.get(CLUSTER_ROLE, ROLE))?.metadata.resourceVersion,
    (await world.get(NAMESPACE, 'c1'))?.metadata.resourceVersion,
    (await world.api.list(ROLE_BINDING, { namespace: 'c1' })).items.map(
      (one) => one.metadata.resourceVersion,
    ),
  ];
  const before = await version();
  world.start({ duties: ['acceptance', 'cleanup'] });
  // A cluster that comes afterwards is accepted when all before it were looked at.
  await world.register('c2');
  await world.accept('c2');
  await expect.poll(() => world.conditions('c2')).toContain(ACCEPTED);
  expect(await version()).toEqual(before);
});
