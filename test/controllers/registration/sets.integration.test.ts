import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  NAMESPACE,
} from '@berth/kube/model/kinds';
import type { Condition } from '@berth/kube/model/object-meta';
import { RegistrationWorld } from './registration-world.ts';

const LABEL = 'cluster.open-cluster-management.io/clusterset';

let world: RegistrationWorld;
beforeEach(async () => {
  world = await RegistrationWorld.create({ duties: ['sets'] });
});
afterEach(() => world.close());

async function said(kind: KindInfo, name: string, namespace = ''): Promise<string | undefined> {
  const status = (await world.get(kind, name, namespace))?.['status'] as
    | { conditions?: Condition[] }
    | undefined;
  const [first] = status?.conditions ?? [];
  return first && `${first.type}=${first.status}/${first.reason}/${first.message}`;
}

const selector = async (name: string): Promise<unknown> =>
  ((await world.get(MANAGED_CLUSTER_SET, name))?.['spec'] as { clusterSelector?: unknown } | undefined)
    ?.clusterSelector;

it('keeps the default sets, and counts their clusters', async () => {
  await expect
    .poll(() => said(MANAGED_CLUSTER_SET, 'global'))
    .toBe('ClusterSetEmpty=True/NoClusterMatched/No ManagedCluster selected');
  await world.register('c1', { metadata: { labels: { [LABEL]: 'default' } } });
  await world.register('c2', { metadata: { labels: { [LABEL]: 'other' } } });
  await expect.poll(() => said(MANAGED_CLUSTER_SET, 'global')).toContain('2 ManagedClusters selected');
  await expect.poll(() => said(MANAGED_CLUSTER_SET, 'default')).toContain('1 ManagedClusters selected');
  await world.patch(MANAGED_CLUSTER_SET, 'global', {
    spec: { clusterSelector: { labelSelector: { matchLabels: { a: 'b' } } } },
  });
  await expect.poll(() => selector('global')).toEqual({ selectorType: 'LabelSelector', labelSelector: {} });
  await world.patch(MANAGED_CLUSTER_SET, 'default', {
    spec: { clusterSelector: { selectorType: 'LabelSelector', labelSelector: {} } },
  });
  await expect.poll(() => selector('default')).toEqual({ selectorType: 'ExclusiveClusterSetLabel' });
  await world.api.delete(MANAGED_CLUSTER_SET, { namespace: '', name: 'default' });
  await expect.poll(() => said(MANAGED_CLUSTER_SET, 'default')).toContain('1 ManagedClusters selected');
});

it('says whether a binding is bound, as its set comes and goes', async () => {
  await world.make(NAMESPACE, { metadata: { name: 'team' } });
  await world.make(MANAGED_CLUSTER_SET_BINDING, {
    metadata: { name: 'east', namespace: 'team' },
    spec: { clusterSet: 'east' },
  });
  const bound = () => said(MANAGED_CLUSTER_SET_BINDING, 'east', 'team');
  await expect.poll(bound).toBe('Bound=False/ClusterSetNotFound/');
  await world.make(MANAGED_CLUSTER_SET, { metadata: { name: 'east' }, spec: {} });
  await expect.poll(bound).toBe('Bound=True/ClusterSetBound/');
  await world.api.delete(MANAGED_CLUSTER_SET, { namespace: '', name: 'east' });
  await expect.poll(bound).toBe('Bound=False/ClusterSetNotFound/');
});

it('lists the managed namespaces of a cluster, and forgets those of a set that it left', async () => {
  await world.make(MANAGED_CLUSTER_SET, {
    metadata: { name: 'east' },
    spec: { managedNamespaces: [{ name: 'shop' }] },
  });
  await world.register('c1', { metadata: { labels: { [LABEL]: 'east' } } });
  const namespaces = async (): Promise<unknown> =>
    ((await world.get(MANAGED_CLUSTER, 'c1'))?.['status'] as { managedNamespaces?: unknown } | undefined)
      ?.managedNamespaces;
  await expect.poll(namespaces).toEqual([{ clusterSet: 'east', name: 'shop' }]);
  await world.patch(MANAGED_CLUSTER, 'c1', { metadata: { labels: { [LABEL]: 'default' } } });
  await expect.poll(namespaces).toEqual([]);
});

describe('on a hub without webhooks, a cluster', () => {
  beforeEach(async () => {
    await world.close();
    world = await RegistrationWorld.create({ duties: ['sets'], admission: false });
  });
  const setOf = async (name: string): Promise<string | undefined> =>
    (await world.get(MANAGED_CLUSTER, name))?.metadata.labels?.[LABEL];

  it.each([
    { name: 'without labels', labels: undefined },
    { name: 'with other labels', labels: { region: 'eu' } },
    { name: 'with an empty set', labels: { [LABEL]: '' } },
  ])('$name joins the default set, and again when its label is removed', async ({ labels }) => {
    await world.register('c1', { metadata: { labels } });
    await expect.poll(() => setOf('c1')).toBe('default');
    expect((await world.get(MANAGED_CLUSTER, 'c1'))?.metadata.labels).toMatchObject(
      labels?.region === undefined ? {} : labels,
    );
    await expect.poll(() => said(MANAGED_CLUSTER_SET, 'default')).toContain('1 ManagedClusters selected');
    await world.patch(MANAGED_CLUSTER, 'c1', { metadata: { labels: { [LABEL]: null } } });
    await expect.poll(() => setOf('c1')).toBe('default');
  });

  it('that a person gives another set keeps it', async () => {
    await world.register('c1');
    await expect.poll(() => setOf('c1')).toBe('default');
    await world.patch(MANAGED_CLUSTER, 'c1', { metadata: { labels: { [LABEL]: 'prod' } } });
    await world.register('c2', { metadata: { labels: { [LABEL]: 'test' } } });
    // A cluster that comes afterwards is looked at after those before it.
    await world.register('c3');
    await expect.poll(() => setOf('c3')).toBe('default');
    expect([await setOf('c1'), await setOf('c2')]).toEqual(['prod', 'test']);
  });
});
