import { LEASE } from '@berth/kube/model/kinds';
import { InputError, TransientError } from '@berth/runtime/errors';
import { beforeEach, describe, expect, it } from 'vitest';
import { AddonWorld, INSTALL_NAMESPACE } from './addon-harness.ts';

const HEALTHY = 'True ManagedClusterAddOnLeaseUpdated: helloworld add-on is available.';
const STOPPED = 'False ManagedClusterAddOnLeaseUpdateStopped: helloworld add-on is not available.';
const MISSING = 'Unknown ManagedClusterAddOnLeaseNotFound: The status of helloworld add-on is unknown.';
const MARK = 'addon.open-cluster-management.io/hosting-cluster-name';
const MINUTE_MS = 60_000;

let world: AddonWorld;
beforeEach(async () => {
  world = new AddonWorld();
  await world.start();
});
const health = () => world.condition('helloworld', 'Available');

describe('the health of an add-on by its lease', () => {
  it('is unknown without one, good with a fresh one, bad with a stale one, and good again', async () => {
    await world.addAddon('helloworld', {});
    expect(await health()).toBe(MISSING);
    await world.renewLease('helloworld');
    expect(await health()).toBe(HEALTHY);
    await world.settle(5 * MINUTE_MS - 4_000);
    expect(await health()).toBe(HEALTHY);
    await world.settle(8_000);
    expect(await health()).toBe(STOPPED);
    await world.renewLease('helloworld');
    expect(await health()).toBe(HEALTHY);
    await world.cluster.delete(LEASE, { namespace: INSTALL_NAMESPACE, name: 'helloworld' });
    await world.settle();
    expect(await health()).toBe(MISSING);
  });

  it('costs no write and no read while the lease is renewed', async () => {
    await world.addAddon('helloworld', {});
    await world.renewLease('helloworld');
    const [writes, reads] = [world.hub.writes.length, world.cluster.requests.length];
    for (let minute = 0; minute < 10; minute++) {
      await world.settle(MINUTE_MS - 2_000);
      await world.renewLease('helloworld');
    }
    expect(await health()).toBe(HEALTHY);
    expect(world.hub.writes).toHaveLength(writes);
    // Of each renewal by the test: a get and a patch.
    expect(world.cluster.requests).toHaveLength(reads + 20);
  });

  it('is read in the namespace of the status, and follows it', async () => {
    await world.addAddon('helloworld', { namespace: 'elsewhere' });
    await world.renewLease('helloworld');
    expect(await health()).toBe(MISSING);
    await world.renewLease('helloworld', { namespace: 'elsewhere' });
    expect(await health()).toBe(HEALTHY);
  });

  it('is left to the manager with the mode Customized, and judged again after it', async () => {
    await world.addAddon('helloworld', { healthCheck: { mode: 'Customized' } });
    await world.renewLease('helloworld');
    expect(await health()).toBeUndefined();
    await world.setStatus('helloworld', { healthCheck: { mode: 'Lease' } });
    expect(await health()).toBe(HEALTHY);
  });

  it('of a hosted add-on is read where the agent runs', async () => {
    await world.addAddon('helloworld', {}, { annotations: { [MARK]: 'host' } });
    await world.renewLease('helloworld');
    expect(await health()).toBe(
      `${MISSING} No lease found on hosting cluster "host"; verify it matches the cluster where this managed cluster's klusterlet actually runs.`,
    );
    await world.renewLease('helloworld', { on: world.hosting });
    expect(await health()).toBe(HEALTHY);
  });

  it('is not written while the hub says that the cluster is unknown, and is afterwards', async () => {
    await world.addAddon('helloworld', {});
    await world.renewLease('helloworld');
    const unknown = { reason: 'ManagedClusterLeaseUpdateStopped', message: 'stopped' };
    world.isUnknown = true;
    await world.setCondition('helloworld', { type: 'Available', status: 'Unknown', ...unknown });
    await world.renewLease('helloworld');
    expect(await health()).toBe('Unknown ManagedClusterLeaseUpdateStopped: stopped');
    world.isUnknown = false;
    world.agent?.resumeHealth();
    await world.settle();
    expect(await health()).toBe(HEALTHY);
  });

  it('stays while leases cannot be read', async () => {
    await world.addAddon('helloworld', {});
    await world.renewLease('helloworld');
    world.cluster.get = async () => {
      throw new TransientError('down', { code: 'kube.network', subject: 'test' });
    };
    await world.settle(10 * MINUTE_MS);
    expect(await health()).toBe(HEALTHY);
  });

  it('is not guessed when leases may not be listed', async () => {
    world.cluster.list = async () => {
      throw new InputError('forbidden', { code: 'kube.forbidden', subject: 'leases' });
    };
    await world.addAddon('helloworld', {});
    expect(await health()).toBeUndefined();
  });

  it('is written again when somebody else wrote it', async () => {
    await world.addAddon('helloworld', {});
    await world.renewLease('helloworld');
    const wrong = { type: 'Available', status: 'False', reason: 'X', message: 'x' } as const;
    await world.setCondition('helloworld', wrong);
    expect(await health()).toBe(HEALTHY);
  });
});
