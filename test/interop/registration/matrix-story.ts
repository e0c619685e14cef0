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
      // A first certificate that is due at once would stop OCM's agent: see docs/compatibility.md.
      if (agent === 'OCM') await world.signForAnHour();
      await world.startAgent();
      await joins(world);
      await rotates(world, agent);
      await appliesAWork(world);
      await isDeniedAndAccepted(world);
      await fallsSilentAndComesBack(world);
      await isDetached(world);
    });
  });
}

async function joins(world: MatrixWorld): Promise<void> {
  await expect.poll(() => world.hub.requests(CLUSTER), PATIENT).toHaveLength(1);
  // OCM's agent makes the cluster and the request at the same time.
  await expect
    .poll(() => world.hub.cluster(CLUSTER), PATIENT)
    .toMatchObject({ spec: { hubAcceptsClient: false } });
  await world.accept();
  await expect.poll(() => world.certificate(), PATIENT).toBeDefined();
}

/** A certificate of an hour takes the place of one of which a fifth or less is left. */
async function rotates(world: MatrixWorld, agent: Side): Promise<void> {
  // OCM's agent has left its bootstrap kubeconfig, too.
  if (agent === 'OCM') await expect.poll(() => world.available(), PATIENT).toBe('True');
  const before = await world.signed();
  if (agent === 'ours') await world.signForAnHour();
  else await world.ageCertificate();
  const isRotated = (): boolean => {
    const { serialNumber = '', validTo = '' } = world.certificate() ?? {};
    const hasAnHour = Date.parse(validTo) > Date.now() + 50 * 60_000;
    return hasAnHour && !before.includes(serialNumber);
  };
  await expect.poll(isRotated, PATIENT).toBe(true);
  await expect.poll(() => world.hub.condition(CLUSTER, 'ClusterCertificateRotated'), PATIENT).toBe('True');
  // A person approved the first; the agent asked for the others by itself.
  expect((await world.hub.requests(CLUSTER)).length).toBeLessThanOrEqual(5);
}

async function appliesAWork(world: MatrixWorld): Promise<void> {
  await expect.poll(() => world.hub.condition(CLUSTER, 'ManagedClusterJoined'), PATIENT).toBe('True');
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
  await expect.poll(() => world.bindings(), PATIENT).toBeGreaterThanOrEqual(2);
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
