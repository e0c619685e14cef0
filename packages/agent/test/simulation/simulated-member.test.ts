import { expect, it } from 'vitest';
import { LEASE, MANAGED_CLUSTER, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { CLUSTER_LEASE } from '@berth/ocm/registration/names';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { configMap, CONFIG_MAP } from '../agent-harness.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { SimulatedMember } from '../../src/simulation/start-members.ts';

const hubConfig = loadKubeConfig({
  text: 'clusters: [{name: hub, cluster: {server: "https://hub.example"}}]\ncontexts: [{name: hub, context: {cluster: hub}}]\ncurrent-context: hub\n',
});

it('a member keeps its lease while it is there, in the time that its cluster says', async () => {
  const hub = new FakeKubeApi();
  const clock = new FakeClock();
  const member = new SimulatedMember({
    ...{ name: 'edge', hub, hubConfig, cluster: new FakeKubeApi(), clock },
    log: new SilentLogger(),
  });
  await member.register();
  const key = { namespace: '', name: 'edge' };
  const follow = async (patch: object): Promise<void> =>
    member.follow((await hub.mergePatch(MANAGED_CLUSTER, key, patch)) as unknown as ManagedCluster);
  const renewed = async (): Promise<unknown> =>
    (
      (await hub.get(LEASE, { namespace: 'edge', name: CLUSTER_LEASE }))?.['spec'] as {
        readonly renewTime?: string;
      }
    ).renewTime;
  await follow({ spec: { leaseDurationSeconds: 5 } });
  await hub.create(LEASE, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: CLUSTER_LEASE, namespace: 'edge' },
    spec: { holderIdentity: CLUSTER_LEASE },
  });
  await clock.advance(5_000);
  const first = await renewed();
  expect(first).toEqual(expect.any(String));
  await clock.advance(5_000);
  const second = await renewed();
  expect(second).not.toBe(first);
  await follow({ metadata: { annotations: { 'berth.dev/simulate': 'unreachable' } } });
  await clock.advance(60_000);
  expect(await renewed()).toBe(second);
  await follow({ metadata: { annotations: { 'berth.dev/simulate': null } } });
  await clock.advance(5_000);
  expect(await renewed()).not.toBe(second);
  await member.close();
});

it('a member is registered, applies works, goes silent and comes back', async () => {
  const hub = new FakeKubeApi();
  const cluster = new FakeKubeApi();
  cluster.addKind(CONFIG_MAP);
  const clock = new FakeClock();
  const member = new SimulatedMember({
    name: 'edge',
    hub,
    hubConfig,
    cluster,
    clock,
    log: new SilentLogger(),
  });
  await member.register();
  await member.register();
  const current = async (): Promise<ManagedCluster> =>
    (await hub.get(MANAGED_CLUSTER, { namespace: '', name: 'edge' })) as unknown as ManagedCluster;
  const simulate = async (value: string | null): Promise<void> => {
    const patch = { metadata: { annotations: { 'berth.dev/simulate': value } } };
    await hub.mergePatch(MANAGED_CLUSTER, { namespace: '', name: 'edge' }, patch);
    await member.follow(await current());
    await clock.advance(1_000);
  };
  const state = async (): Promise<string> => {
    const { spec, status } = await current();
    const available = status?.conditions?.find(({ type }) => type === 'ManagedClusterConditionAvailable');
    return `${available?.status} ${(spec?.taints ?? []).map(({ key }) => key).join()}`;
  };
  const work = (name: string): KubeObject => ({
    apiVersion: 'work.open-cluster-management.io/v1',
    kind: 'ManifestWork',
    metadata: { name, namespace: 'edge' },
    spec: { workload: { manifests: [configMap(name)] } },
  });
  const applied = async (name: string): Promise<boolean> =>
    (await cluster.get(CONFIG_MAP, { namespace: 'default', name })) !== undefined;

  await member.follow(await current());
  await hub.create(MANIFEST_WORK, work('one'));
  await clock.advance(1_000);
  expect(await state()).toBe('True ');
  expect(await applied('one')).toBe(true);

  await simulate('unreachable');
  await hub.create(MANIFEST_WORK, work('two'));
  await clock.advance(60_000);
  expect(await state()).toBe('Unknown cluster.open-cluster-management.io/unreachable');
  expect([await applied('one'), await applied('two')]).toEqual([true, false]);

  await simulate(null);
  expect(await state()).toBe('True ');
  expect(await applied('two')).toBe(true);
  await member.close();
});
