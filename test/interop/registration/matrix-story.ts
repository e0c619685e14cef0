import { describe, expect, it, onTestFinished } from 'vitest';
import { PATIENT, CLUSTER, MatrixWorld, type Side } from './matrix-world.ts';
import type { MatrixHub } from './matrix-hub.ts';

/** The life of a cluster, with the controllers of one side and the agent of one side. */
export function lifeOfACluster(startHub: () => Promise<MatrixHub>): void {
  describe.each<{ readonly hub: Side; readonly agent: Side }>([
    { hub: 'ours', agent: 'ours' },
    { hub: 'ours', agent: 'OCM' },
    { hub: 'OCM', agent: 'ours' },
    { hub: 'OCM', agent: 'OCM' },
  ])('controllers of the hub: $hub; agent: $agent', ({ hub, agent }) => {
    it('joins, renews its certificate, is denied and accepted, falls silent, comes back, is detached', async () => {
      const world = await MatrixWorld.start(await startHub(), agent);
      onTestFinished(() => world.close());
      await world.startControllers(hub);
      // OCM's agent looks at its certificate every five minutes: its own suite shows how it rotates (ocm-suites.test.ts).
      if (agent === 'OCM') await world.signForAnHour();
      await world.startAgent();
      const firstSerial = await joins(world);
      if (agent === 'ours') await rotates(world, firstSerial);
      await appliesAWork(world);
      await isDeniedAndAccepted(world);
      await fallsSilentAndComesBack(world);
      await isDetached(world);
    });
  });
}

/** @returns the serial number of its first certificate, which is due soon */
async function joins(world: MatrixWorld): Promise<string> {
  await expect.poll(() => world.hub.requests(CLUSTER), PATIENT).toHaveLength(1);
  expect(await world.hub.cluster(CLUSTER)).toMatchObject({ spec: { hubAcceptsClient: false } });
  await world.accept();
  await expect.poll(() => world.certificate(), PATIENT).toBeDefined();
  return (await world.firstCertificate())?.serialNumber ?? '';
}

async function rotates(world: MatrixWorld, firstSerial: string): Promise<void> {
  await world.signForAnHour();
  const hasAnHour = (): boolean => Date.parse(world.certificate()?.validTo ?? '') > Date.now() + 50 * 60_000;
  await expect.poll(hasAnHour, PATIENT).toBe(true);
  expect(world.certificate()?.serialNumber).not.toBe(firstSerial);
  // A person approved the first; the agent asked for the others by itself.
  expect((await world.hub.requests(CLUSTER)).length).toBeLessThanOrEqual(5);
}

async function appliesAWork(world: MatrixWorld): Promise<void> {
  await expect.poll(() => world.available(), PATIENT).toBe('True');
  expect(await world.hub.condition(CLUSTER, 'ManagedClusterJoined')).toBe('True');
  await world.giveWork();
  await expect.poll(() => world.hasCopy(), PATIENT).toBe(true);
  await expect.poll(() => world.workStatus(), PATIENT).toBe('True');
}

async function isDeniedAndAccepted(world: MatrixWorld): Promise<void> {
  await world.setAccepted(false);
  await expect.poll(() => world.available(), PATIENT).toBe('Unknown');
  const lease = await world.lease();
  await world.setAccepted(true);
  await expect.poll(() => world.available(), PATIENT).toBe('True');
  await expect.poll(() => world.lease(), PATIENT).not.toBe(lease);
  expect(await world.bindings()).toBeGreaterThanOrEqual(2);
  expect(await world.hasCopy()).toBe(true);
}

async function fallsSilentAndComesBack(world: MatrixWorld): Promise<void> {
  await world.killAgent();
  await expect.poll(() => world.available(), PATIENT).toBe('Unknown');
  await expect
    .poll(() => world.taints(), PATIENT)
    .toEqual(['cluster.open-cluster-management.io/unreachable']);
  const requests = (await world.hub.requests(CLUSTER)).length;
  await world.startAgent();
  await expect.poll(() => world.available(), PATIENT).toBe('True');
  await expect.poll(() => world.taints(), PATIENT).toEqual([]);
  expect(await world.hub.requests(CLUSTER)).toHaveLength(requests);
}

async function isDetached(world: MatrixWorld): Promise<void> {
  await world.removeCluster();
  await expect.poll(() => world.hasCopy(), PATIENT).toBe(false);
  await expect.poll(() => world.isGone(), PATIENT).toBe(true);
  await expect.poll(() => world.appliedWorks(), PATIENT).toBe(0);
  // The cluster is left: its agent ends, and nothing of it is on the cluster.
  await world.killAgent();
  expect(await world.isGone()).toBe(true);
}
