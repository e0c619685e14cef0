import { afterAll, describe, expect, it } from 'vitest';
import { CLUSTER, FLEET, hasNodes, Nodes, PATIENT } from './nodes.ts';

const declared = (more: string) => `
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: ${CLUSTER}${more}
`;
const LABEL = declared(', labels: {site: berlin}}');
const DRAIN = `${declared('}')}spec: {taints: [{key: maintenance, effect: NoSelect}]}\n`;

describe.skipIf(!hasNodes)('a workload that runs in pods of a real cluster', () => {
  const nodes = new Nodes();
  afterAll(() => nodes.close());

  it('is placed by a commit, after init and join have installed controllers and agent in pods', async () => {
    await nodes.berth('init', '--wait');
    await nodes.join();
    const available = () => nodes.condition(`managedcluster ${CLUSTER}`, 'ManagedClusterConditionAvailable');
    await expect.poll(available, PATIENT).toBe('True ManagedClusterAvailable');
    // Two controllers would decide the same placements.
    nodes.kubectl('delete', 'deployment', 'berth', '-n', 'berth-system');
    // Nobody answers them any more.
    const webhooks = 'validatingwebhookconfiguration,mutatingwebhookconfiguration';
    nodes.kubectl('delete', webhooks, 'berth-admission');
    nodes.git.commit({ 'fleet.yaml': FLEET });
    nodes.serve();
    await nodes.runs();
  });

  it('goes on while the deletion of its only cluster is held, ends once when that is approved, and comes back with a join', async () => {
    const [before, work] = [await nodes.runs(), nodes.read('manifestworks', '-n', CLUSTER, '-o', 'name')];
    nodes.kubectl('delete', 'managedcluster', CLUSTER, '--wait=false');
    const held = () => nodes.condition(`managedcluster ${CLUSTER}`, 'Deleting');
    await expect.poll(held, PATIENT).toBe('False RemovalHeld');
    // fixed wait: once, a held deletion ended these pods every 8 seconds; clean-up looks again every 5
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    expect([nodes.pods(), nodes.read('manifestworks', '-n', CLUSTER, '-o', 'name')]).toEqual([before, work]);

    await nodes.release();
    await expect.poll(() => nodes.cluster('.metadata.uid'), PATIENT).toBe('');
    expect(nodes.read('namespace', 'web')).toBe('');
    const log = () =>
      nodes.kubectl('logs', '-n', 'open-cluster-management-agent', 'deployment/klusterlet-agent');
    await expect.poll(log, PATIENT).toContain('the hub has deleted this cluster');

    await nodes.join();
    expect(await nodes.runs()).not.toEqual(before);
  });

  it.each([
    ['a label', LABEL],
    ['a drain, which is held,', DRAIN],
  ])('does not notice %s that a commit gives to its cluster, nor the revert', async (_, file) => {
    const [before, uid, spec] = [await nodes.runs(), nodes.cluster('.metadata.uid'), nodes.cluster('.spec')];
    nodes.git.commit({ 'cluster.yaml': file });
    const adopted = () => nodes.cluster(".metadata.annotations['berth\\.dev/adopted']");
    await expect.poll(adopted, PATIENT).toBe('true');
    if (file === DRAIN)
      await expect
        .poll(() => nodes.condition('placement web -n shop', 'berth.dev/Held'), PATIENT)
        .toBe('True WouldEmpty');
    nodes.git.commit({ 'cluster.yaml': undefined });
    await expect.poll(adopted, PATIENT).toBe('');
    expect([nodes.cluster('.metadata.uid'), nodes.cluster('.spec')]).toEqual([uid, spec]);
    expect(nodes.cluster('.metadata.deletionTimestamp')).toBe('');
    expect(nodes.pods()).toEqual(before);
  });
});
