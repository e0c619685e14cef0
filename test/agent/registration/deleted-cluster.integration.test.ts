import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kind, MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import { SteeredClock } from '../../fakes/steered-clock.ts';
import type { SilentLogger } from '@berth/test-kit/silent-logger';
import { RegistrationWorld } from './registration-world.ts';

const AVAILABLE = 'ManagedClusterConditionAvailable';
const BINDING = kind('rbac.authorization.k8s.io', 'v1', 'ClusterRoleBinding', 'Cluster');
const DELETED = 'the hub has deleted this cluster: no works are applied, and none are removed';

describe('an agent whose cluster was deleted on the hub', () => {
  let clock: SteeredClock;
  let world: RegistrationWorld;
  beforeEach(async () => {
    clock = new SteeredClock();
    world = await RegistrationWorld.start(['cluster1'], clock);
  });
  afterEach(() => world.close());

  const later =
    <T>(look: () => T) =>
    (): T => {
      clock.skip(5_000);
      return look();
    };
  const certificate = (): string => readFileSync(join(world.folder(), 'tls.crt'), 'utf8');
  const saysDeleted = ({ entries }: SilentLogger): number =>
    entries.filter(({ message }) => message === DELETED).length;

  async function joins(requests: number): Promise<void> {
    await expect.poll(later(() => world.hub.requests('cluster1'))).toHaveLength(requests);
    await world.hub.decide('cluster1');
    await world.hub.accept('cluster1');
    await expect.poll(later(() => world.hub.condition('cluster1', AVAILABLE))).toBe('True');
  }

  /** What the hub's controllers do, too: the agent loses its rights. */
  async function deleteCluster(): Promise<void> {
    await world.hub.api.delete(BINDING, {
      namespace: '',
      name: 'open-cluster-management:managedcluster:cluster1',
    });
    await world.hub.api.delete(MANAGED_CLUSTER, { namespace: '', name: 'cluster1' });
    expect(await world.hub.cluster('cluster1')).toBeUndefined();
  }

  it('says so once, waits, and registers again with other bootstrap credentials', async () => {
    const { log } = world.run();
    await joins(1);
    const before = certificate();
    await deleteCluster();
    await expect.poll(later(() => saysDeleted(log))).toBe(1);
    // The same credentials are no wish to come back.
    for (let check = 0; check < 20; check++) await expect.poll(later(() => saysDeleted(log))).toBe(1);
    expect(await world.hub.cluster('cluster1')).toBeUndefined();
    await world.writeBootstrap();
    await joins(2);
    expect(certificate()).not.toBe(before);
    expect(saysDeleted(log)).toBe(1);
  });

  it('does not come back for credentials that came while the hub had the cluster', async () => {
    const first = world.run();
    await joins(1);
    const digest = (): string => readFileSync(join(world.folder(), 'bootstrap-digest'), 'utf8');
    const before = digest();
    // Somebody runs `berth join` again: the cluster is registered, so nothing follows.
    await world.writeBootstrap();
    await expect.poll(later(digest)).not.toBe(before);
    await deleteCluster();
    await expect.poll(later(() => saysDeleted(first.log))).toBe(1);
    for (let check = 0; check < 20; check++) await expect.poll(later(() => saysDeleted(first.log))).toBe(1);
    await first.stop();
    const second = world.run();
    await expect.poll(later(() => saysDeleted(second.log))).toBe(1);
    for (let check = 0; check < 20; check++) await expect.poll(later(() => saysDeleted(second.log))).toBe(1);
    expect(await world.hub.cluster('cluster1')).toBeUndefined();
    expect(await world.hub.requests('cluster1')).toHaveLength(1);
  });

  it('comes back for credentials that came while the cluster was being deleted', async () => {
    const { log } = world.run();
    await joins(1);
    const key = { namespace: '', name: 'cluster1' };
    await world.hub.api.mergePatch(MANAGED_CLUSTER, key, { metadata: { finalizers: ['test.example/wait'] } });
    await world.hub.api.delete(MANAGED_CLUSTER, key);
    await world.writeBootstrap();
    for (let check = 0; check < 20; check++) await expect.poll(later(() => saysDeleted(log))).toBe(0);
    await world.hub.api.mergePatch(MANAGED_CLUSTER, key, { metadata: { finalizers: [] } });
    await joins(2);
    expect(saysDeleted(log)).toBe(1);
  });

  it('notices it after a restart, by the bootstrap kubeconfig, and registers again', async () => {
    const first = world.run();
    await joins(1);
    await first.stop();
    await deleteCluster();
    const second = world.run();
    await expect.poll(later(() => saysDeleted(second.log))).toBe(1);
    await second.stop();
    // The new credentials came while it was not running.
    await world.writeBootstrap();
    world.run();
    await joins(2);
  });

  it('goes on with its certificate when the hub has the cluster again', async () => {
    const { log } = world.run();
    await joins(1);
    const before = certificate();
    const cluster = await world.hub.cluster('cluster1');
    await deleteCluster();
    await expect.poll(later(() => saysDeleted(log))).toBe(1);
    await world.hub.api.create(MANAGED_CLUSTER, {
      apiVersion: 'cluster.open-cluster-management.io/v1',
      kind: 'ManagedCluster',
      metadata: { name: 'cluster1' },
      spec: cluster?.spec,
    });
    await world.hub.accept('cluster1');
    await expect.poll(later(() => world.hub.condition('cluster1', AVAILABLE))).toBe('True');
    expect(certificate()).toBe(before);
  });
});
