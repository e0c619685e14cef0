import { afterEach, describe, expect, it } from 'vitest';
import { CERTIFICATE_REQUEST, LEASE, MANAGED_CLUSTER, NAMESPACE } from '@berth/kube/model/kinds';
import { CLUSTER_CONDITIONS } from '@berth/ocm/registration/cluster-conditions';
import { compileAutoAcceptance } from '../../../src/core/registration/acceptance/auto-acceptance.ts';
import { formatMicroTime, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { freshKey, RegistrationWorld } from './registration-world.ts';

const ACCEPTED = 'HubAcceptedManagedCluster=True/HubClusterAdminAccepted';
const DENIED = 'HubAcceptedManagedCluster=False/HubClusterAdminDenied';

let world: RegistrationWorld;
afterEach(() => world.close());

/** The cluster joins as with `kubectl`: a person approves and accepts. */
async function joined(name: string) {
  await world.accepted(name);
  return { agent: await world.agentOf(name) };
}

describe('a cluster that a person accepts', () => {
  it('gets a certificate that is signed, renews it, and cannot once it is denied', async () => {
    world = await RegistrationWorld.create();
    const { agent } = await joined('c1');
    const next = freshKey();
    const renewal = await world.request('c1', next, agent);
    await expect.poll(() => world.certificate(renewal)).toBeDefined();
    expect(world.events).toContainEqual({
      action: 'certificate-approved',
      cluster: 'c1',
      request: renewal,
      by: 'renewal',
    });
    const renewed = world.agent((await world.certificate(renewal)) ?? '', next);
    expect((await renewed.get(MANAGED_CLUSTER, { namespace: '', name: 'c1' }))?.metadata.name).toBe('c1');
    await world.accept('c1', false);
    await expect.poll(() => world.conditions('c1')).toContain(DENIED);
    await expect(world.request('c1', freshKey(), renewed)).rejects.toMatchObject({ code: 'kube.forbidden' });
  });

  it('renews nobody else', async () => {
    world = await RegistrationWorld.create();
    const { agent } = await joined('c1');
    const { agent: other } = await joined('c2');
    const foreign = await world.request('c2', freshKey(), agent);
    const own = await world.request('c2', freshKey(), other);
    await expect.poll(() => world.certificate(own)).toBeDefined();
    expect(await world.certificate(foreign)).toBeUndefined();
  });

  it('has a lease that its agent renews', async () => {
    world = await RegistrationWorld.create();
    const { agent } = await joined('c1');
    const key = { namespace: 'c1', name: 'managed-cluster-lease' };
    await expect.poll(() => world.api.get(LEASE, key)).toBeDefined();
    const lease = await agent.get(LEASE, key);
    expect(lease?.['spec']).toMatchObject({ holderIdentity: 'managed-cluster-lease' });
    const renewTime = formatMicroTime(instantFromEpochMs(Date.now()));
    if (lease !== undefined)
      await agent.update(LEASE, { ...lease, spec: { ...(lease['spec'] as object), renewTime } });
    await expect
      .poll(() => world.conditions('c1'))
      .toContain('ManagedClusterConditionClockSynced=True/ManagedClusterClockSynced');
  });
});

describe('automatic acceptance', () => {
  const admin = async (): Promise<string> => {
    const probe = await RegistrationWorld.create({ duties: [] });
    await probe.register('who');
    const name = await probe.request('who', freshKey());
    const { items } = await probe.api.list(CERTIFICATE_REQUEST);
    const spec = items.find(({ metadata }) => metadata.name === name)?.['spec'] as { username: string };
    await probe.close();
    return spec.username;
  };

  it('approves and accepts whom a rule accepts, once: a denial stays', async () => {
    const rule = `request.username == '${await admin()}' && managedCluster.metadata.name.startsWith('edge-')`;
    world = await RegistrationWorld.create({ autoAcceptance: compileAutoAcceptance([], [rule]) });
    await world.register('edge-1');
    await world.register('core-1');
    const edge = await world.request('edge-1', freshKey());
    const core = await world.request('core-1', freshKey());
    await expect.poll(() => world.certificate(edge)).toBeDefined();
    await expect.poll(() => world.conditions('edge-1')).toContain(ACCEPTED);
    expect(await world.certificate(core)).toBeUndefined();
    expect(await world.conditions('core-1')).not.toContain(ACCEPTED);
    await world.accept('edge-1', false);
    await expect.poll(() => world.conditions('edge-1')).toContain(DENIED);
    const again = await world.request('edge-1', freshKey());
    await world.register('edge-2');
    const other = await world.request('edge-2', freshKey());
    await expect.poll(() => world.certificate(other)).toBeDefined();
    expect(await world.certificate(again)).toBeUndefined();
    expect(await world.conditions('edge-1')).toContain(DENIED);
  });

  it('gives a second agent no certificate while the first is alive', async () => {
    world = await RegistrationWorld.create({ autoAcceptance: compileAutoAcceptance([await admin()], []) });
    await world.register('c1');
    const first = await world.request('c1', freshKey());
    await expect.poll(() => world.certificate(first)).toBeDefined();
    await expect.poll(() => world.conditions('c1')).toContain(ACCEPTED);
    const report = async (status: 'True' | 'Unknown'): Promise<void> => {
      const { conditions = [] } = ((await world.get(MANAGED_CLUSTER, 'c1'))?.['status'] ?? {}) as {
        readonly conditions?: readonly { readonly type: string }[];
      };
      const { available, joined: isThere } = CLUSTER_CONDITIONS;
      const next = [isThere, { ...available, status }].map((one) => ({
        ...one,
        lastTransitionTime: '2026-01-01T00:00:00Z',
      }));
      const kept = conditions.filter(({ type }) => !next.some((one) => one.type === type));
      const status_ = { status: { conditions: [...kept, ...next] } };
      await world.api.mergePatch(MANAGED_CLUSTER, { namespace: '', name: 'c1' }, status_, {
        subresource: 'status',
      });
    };
    await report('True');
    const second = await world.request('c1', freshKey(), world.api, 'agent2');
    const again = await world.request('c1', freshKey());
    await expect.poll(() => world.certificate(again)).toBeDefined();
    expect(await world.certificate(second)).toBeUndefined();
    // The first is gone: the rule decides.
    await report('Unknown');
    await expect.poll(() => world.certificate(second)).toBeDefined();
  });

  it('leaves a cluster to a person that has the name of a namespace of the hub', async () => {
    world = await RegistrationWorld.create({ autoAcceptance: compileAutoAcceptance([await admin()], []) });
    await world.make(NAMESPACE, { metadata: { name: 'berth-system' } });
    await world.register('berth-system');
    await world.register('c1');
    await world.request('berth-system', freshKey());
    await world.request('c1', freshKey());
    await expect.poll(() => world.conditions('c1')).toContain(ACCEPTED);
    expect(await world.conditions('berth-system')).not.toContain(ACCEPTED);
  });
});
