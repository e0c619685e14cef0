import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  APPLIED_MANIFEST_WORK,
  CLUSTER_CLAIM,
  CONFIG_MAP,
  MANIFEST_WORK,
  NAMESPACE,
  NODE,
} from '@berth/kube/model/kinds';
import { SteeredClock } from '../../fakes/steered-clock.ts';
import { RegistrationWorld } from './registration-world.ts';

const HOUR_MS = 3_600_000;
const AVAILABLE = 'ManagedClusterConditionAvailable';

describe('a cluster that registers itself', () => {
  let world: RegistrationWorld;
  afterEach(() => world.close());

  async function joined(name = 'cluster1'): Promise<void> {
    await expect.poll(() => world.hub.requests(name)).toHaveLength(1);
    expect(await world.hub.decide(name)).toBe(1);
    await world.hub.accept(name);
    await expect.poll(() => world.hub.condition(name, AVAILABLE)).toBe('True');
  }

  it('asks, waits to be accepted, reports, and applies works', async () => {
    world = await RegistrationWorld.start();
    const member = world.member();
    await member.create(NODE, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n1' },
      status: { capacity: { cpu: '4', memory: '8Gi' }, allocatable: { cpu: '3500m', memory: '7Gi' } },
    });
    await member.mergePatch(
      NODE,
      { namespace: '', name: 'n1' },
      { status: { capacity: { cpu: '4', memory: '8Gi' }, allocatable: { cpu: '3500m', memory: '7Gi' } } },
      { subresource: 'status' },
    );
    world.run();
    await expect
      .poll(() => world.hub.cluster('cluster1'))
      .toMatchObject({ spec: { hubAcceptsClient: false } });
    const [request] = await world.hub.requests('cluster1').then(async (found) => {
      if (found.length > 0) return found;
      await expect.poll(() => world.hub.requests('cluster1')).toHaveLength(1);
      return world.hub.requests('cluster1');
    });
    expect(request).toMatchObject({
      metadata: { labels: { 'open-cluster-management.io/cluster-name': 'cluster1' } },
      spec: {
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['digital signature', 'key encipherment', 'client auth'],
      },
    });
    expect(request?.metadata.name).toMatch(/^cluster1-/);
    await joined();
    const cluster = await world.hub.cluster('cluster1');
    expect(cluster?.status?.conditions).toContainEqual(
      expect.objectContaining({
        type: 'ManagedClusterJoined',
        status: 'True',
        reason: 'ManagedClusterJoined',
      }),
    );
    await expect
      .poll(async () => (await world.hub.cluster('cluster1'))?.status)
      .toMatchObject({
        capacity: { cpu: '4', memory: '8Gi' },
        allocatable: { cpu: '3500m', memory: '7Gi' },
        version: { kubernetes: expect.stringMatching(/^v1\./) },
      });
    await expect.poll(async () => (await world.hub.lease('cluster1'))?.startsWith('2020')).toBe(false);
    await world.hub.api.create(MANIFEST_WORK, {
      apiVersion: 'work.open-cluster-management.io/v1',
      kind: 'ManifestWork',
      metadata: { namespace: 'cluster1', name: 'hello' },
      spec: {
        workload: {
          manifests: [
            { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'hello', namespace: 'default' } },
          ],
        },
      },
    });
    await expect.poll(() => member.get(CONFIG_MAP, { namespace: 'default', name: 'hello' })).toBeDefined();
    expect((await member.list(APPLIED_MANIFEST_WORK)).items).toHaveLength(1);
    expect(readdirSync(world.folder()).sort()).toEqual([
      'agent-name',
      'bootstrap-digest',
      'cluster-name',
      'kubeconfig',
      'tls.crt',
      'tls.key',
    ]);
    expect(statSync(join(world.folder(), 'tls.key')).mode & 0o077).toBe(0);
    expect(await world.hub.requests('cluster1')).toHaveLength(1);
  });

  it('goes on with an open request after a restart, and asks nothing after it has joined', async () => {
    world = await RegistrationWorld.start();
    const first = world.run();
    await expect.poll(() => world.hub.requests('cluster1')).toHaveLength(1);
    await first.stop();
    const second = world.run();
    await joined();
    await second.stop();
    const before = await world.hub.lease('cluster1');
    world.run();
    await expect.poll(() => world.hub.lease('cluster1')).not.toBe(before);
    expect(await world.hub.requests('cluster1')).toHaveLength(1);
  });

  it('renews its certificate in time, under a client that is in use', async () => {
    const clock = new SteeredClock();
    world = await RegistrationWorld.start(['cluster1'], clock);
    world.run({ settings: { expirationSeconds: 3_600 } });
    await joined();
    const certificate = (): X509Certificate =>
      new X509Certificate(readFileSync(join(world.folder(), 'tls.crt')));
    const first = certificate();
    clock.skip(0.9 * HOUR_MS);
    await expect.poll(() => world.hub.decide('cluster1')).toBe(1);
    await expect.poll(() => certificate().serialNumber).not.toBe(first.serialNumber);
    await expect.poll(() => world.hub.condition('cluster1', 'ClusterCertificateRotated')).toBe('True');
    // Past the end of the first certificate all goes on.
    clock.skip(0.2 * HOUR_MS);
    const lease = await world.hub.lease('cluster1');
    await expect.poll(() => world.hub.lease('cluster1')).not.toBe(lease);
    expect(Date.parse(first.validTo)).toBeLessThan(clock.now());
    expect(await world.hub.requests('cluster1')).toHaveLength(2);
  });

  it('reports claims and their changes', async () => {
    world = await RegistrationWorld.start();
    const member = world.member();
    const claim = (name: string, value: string, labels = {}) => ({
      apiVersion: 'cluster.open-cluster-management.io/v1alpha1',
      kind: 'ClusterClaim',
      metadata: { name, labels },
      spec: { value },
    });
    await member.create(CLUSTER_CLAIM, claim('zone', 'a'));
    await member.create(CLUSTER_CLAIM, claim('product.open-cluster-management.io', 'Berth'));
    await member.create(CLUSTER_CLAIM, claim('hidden', 'x', { 'open-cluster-management.io/spoke-only': '' }));
    world.run();
    await joined();
    const claims = async () => (await world.hub.cluster('cluster1'))?.status?.clusterClaims;
    await expect.poll(claims).toEqual([
      { name: 'product.open-cluster-management.io', value: 'Berth' },
      { name: 'zone', value: 'a' },
    ]);
    await member.delete(CLUSTER_CLAIM, { namespace: '', name: 'zone' });
    await expect.poll(claims).toEqual([{ name: 'product.open-cluster-management.io', value: 'Berth' }]);
  });

  it('makes the namespaces that the hub manages, and never deletes one', async () => {
    world = await RegistrationWorld.start();
    const member = world.member();
    world.run();
    await joined();
    const set = (managedNamespaces: readonly object[]) =>
      world.hub.api.mergePatch(
        {
          group: 'cluster.open-cluster-management.io',
          version: 'v1',
          kind: 'ManagedCluster',
          plural: 'managedclusters',
          namespaced: false,
        },
        { namespace: '', name: 'cluster1' },
        { status: { managedNamespaces } },
        { subresource: 'status' },
      );
    await set([{ name: 'team-a', clusterSet: 'default' }]);
    const label = async () =>
      Object.values(
        (await member.get(NAMESPACE, { namespace: '', name: 'team-a' }))?.metadata.labels ?? {},
      ).filter((value) => value === 'true' || value === 'false');
    await expect.poll(label).toEqual(['true']);
    await expect
      .poll(async () => (await world.hub.cluster('cluster1'))?.status?.managedNamespaces?.[0]?.conditions)
      .toMatchObject([{ type: 'NamespaceAvailable', status: 'True', reason: 'NamespaceApplied' }]);
    await set([]);
    await expect.poll(label).toEqual(['false']);
  });

  it.each([
    { what: 'cluster entry', change: (text: string) => text.replaceAll('"hub"', '"other"') },
    { what: 'server', change: (text: string) => text.replace('127.0.0.1', 'localhost') },
  ])('begins again when the $what of the bootstrap kubeconfig changes', async ({ change }) => {
    const clock = new SteeredClock();
    world = await RegistrationWorld.start(['cluster1'], clock);
    world.run();
    await joined();
    await world.writeBootstrap(change);
    clock.skip(11_000);
    await expect.poll(() => world.hub.requests('cluster1')).toHaveLength(2);
    await world.hub.decide('cluster1');
    await expect
      .poll(() => readFileSync(join(world.folder(), 'kubeconfig'), 'utf8'))
      .toMatch(/name: other|localhost/);
    const lease = await world.hub.lease('cluster1');
    await expect.poll(() => world.hub.lease('cluster1')).not.toBe(lease);
  });

  it('joins when a bootstrap kubeconfig that cannot be used is corrected', async () => {
    const clock = new SteeredClock();
    world = await RegistrationWorld.start(['cluster1'], clock);
    await world.writeBootstrap((text) => text.replace(/token: .*/, 'token: nobody'));
    const agent = world.run();
    await expect
      .poll(() => agent.log.entries.map(({ message }) => message))
      .toContain('the hub does not know the token of the bootstrap kubeconfig: it may have expired');
    await world.writeBootstrap();
    clock.skip(11_000);
    await joined();
  });

  it('stays denied quietly, and reports again when it is accepted again', async () => {
    const clock = new SteeredClock();
    world = await RegistrationWorld.start(['cluster1'], clock);
    world.run();
    await joined();
    await world.hub.deny('cluster1');
    await world.hub.setCondition('cluster1', {
      type: AVAILABLE,
      status: 'Unknown',
      reason: 'Test',
      message: '',
    });
    const lease = await world.hub.lease('cluster1');
    clock.skip(300_000);
    await world.hub.grant('cluster1');
    expect(await world.hub.lease('cluster1')).toBe(lease);
    await world.hub.accept('cluster1');
    await expect.poll(() => world.hub.condition('cluster1', AVAILABLE)).toBe('True');
    await expect.poll(() => world.hub.lease('cluster1')).not.toBe(lease);
    expect(await world.hub.requests('cluster1')).toHaveLength(1);
  });

  it('registers again with the bootstrap kubeconfig when its certificate has expired', async () => {
    const clock = new SteeredClock();
    world = await RegistrationWorld.start(['cluster1'], clock);
    const agent = world.run({ settings: { expirationSeconds: 3_600 } });
    await joined();
    await agent.stop();
    clock.skip(2 * HOUR_MS);
    world.run();
    await expect.poll(() => world.hub.requests('cluster1')).toHaveLength(2);
    await world.hub.decide('cluster1');
    const lease = await world.hub.lease('cluster1');
    await expect.poll(() => world.hub.lease('cluster1')).not.toBe(lease);
  });

  it('says that its clock may be wrong when a new certificate has expired, and asks seldom', async () => {
    world = await RegistrationWorld.start(['cluster1']);
    const clock = new SteeredClock();
    clock.skip(2 * HOUR_MS);
    const agent = world.run({ settings: { clock, expirationSeconds: 3_600 } });
    const warnings = () => agent.log.entries.filter(({ message }) => /clock of this machine/.test(message));
    await expect.poll(() => world.hub.requests('cluster1')).toHaveLength(1);
    await world.hub.decide('cluster1');
    await expect.poll(() => warnings().length).toBe(1);
    clock.skip(60_000);
    await world.hub.accept('cluster1');
    expect(await world.hub.requests('cluster1')).toHaveLength(1);
    clock.skip(5 * 60_000);
    await expect.poll(() => world.hub.requests('cluster1')).toHaveLength(2);
    // The clock is set right: the cluster joins.
    clock.skip(-2 * HOUR_MS);
    await world.hub.decide('cluster1');
    await expect.poll(() => world.hub.condition('cluster1', 'ManagedClusterJoined')).toBe('True');
  });

  it('asks once more after a refusal, a while later', async () => {
    const clock = new SteeredClock();
    world = await RegistrationWorld.start(['cluster1'], clock);
    world.run();
    await expect.poll(() => world.hub.requests('cluster1')).toHaveLength(1);
    await world.hub.decide('cluster1', 'Denied');
    await expect
      .poll(async () => {
        clock.skip(5_000);
        return (await world.hub.requests('cluster1')).length;
      })
      .toBe(2);
  });
});
