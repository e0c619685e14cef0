import { afterEach, describe, expect, it } from 'vitest';
import { APPLICATION_SET_REPORT } from '../../../../src/core/argocd/argocd-kinds.ts';
import { errorForStatus, type KubeStatus } from '@berth/kube/transport/kube-errors';
import { PullFleet } from './pull-fleet.ts';

const RUNS = { healthStatus: 'Healthy', syncStatus: 'Synced', syncRevision: 'abc' };
const CLUSTERS = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8'];
let fleet: PullFleet;
afterEach(() => fleet.stop());

async function fleetOf(...clusters: readonly string[]): Promise<PullFleet> {
  const made = new PullFleet();
  for (const name of clusters) await made.cluster(name);
  return made.start();
}

const clustersOf = ({ works }: { works: ReturnType<PullFleet['works']> }): readonly (string | undefined)[] =>
  works.map(({ metadata }) => metadata.namespace);

describe('Applications to works', () => {
  it('brings an Application to its cluster, follows it, and takes it away', async () => {
    fleet = await fleetOf('c1');
    await fleet.application('c1');
    await fleet.settle();
    const [work] = fleet.works();
    expect(work?.metadata.labels).toEqual({
      'apps.open-cluster-management.io/application-set': 'true',
      'apps.open-cluster-management.io/pull-to-ocm-managed-cluster': 'true',
    });
    await fleet.patch('shop-c1', { spec: { project: 'other' } });
    await fleet.settle();
    expect(fleet.work('c1')?.spec?.workload?.manifests?.[0]).toMatchObject({ spec: { project: 'other' } });
    expect((await fleet.get('shop-c1'))?.spec?.destination).toEqual({ name: 'c1', namespace: 'shop' });
    await fleet.delete('shop-c1');
    await fleet.settle();
    expect(fleet.works()).toEqual([]);
    expect(await fleet.get('shop-c1')).toBeUndefined();
    expect(fleet.written.map(({ action, reason }) => [action, reason])).toEqual([
      ['created', undefined],
      ['updated', undefined],
      ['deleted', 'deleted'],
    ]);
  });

  it('makes no work again on a cluster that is being deleted, says so, and removes none elsewhere', async () => {
    fleet = await fleetOf('c1', 'c2');
    await fleet.application('c1');
    await fleet.application('c2');
    await fleet.settle();
    await fleet.deleteCluster('c1');
    await fleet.settle();
    expect(clustersOf({ works: fleet.works() })).toEqual(['c1', 'c2']);
    expect((await fleet.get('shop-c1'))?.status?.conditions).toMatchObject([
      { type: 'MemberLeavingWarning' },
    ]);
    // Clean-up of another controller.
    await fleet.deleteWork('c1');
    await fleet.settle(60_000);
    // A move to the cluster that goes must not take the Application from where it runs.
    const annotations = { 'apps.open-cluster-management.io/ocm-managed-cluster': 'c1' };
    await fleet.patch('shop-c2', { metadata: { annotations } });
    await fleet.settle(60_000);
    expect(clustersOf({ works: fleet.works() })).toEqual(['c2']);
  });

  it('waits for the namespace of a cluster: one line, and no error', async () => {
    fleet = await fleetOf('c1', 'c2');
    const { hub } = fleet;
    const create = hub.create.bind(hub);
    const details = { name: 'c1', kind: 'namespaces' };
    const answer = { kind: 'Status', reason: 'NotFound', message: 'namespaces "c1" not found', details };
    hub.create = (kind, object, options) =>
      object.metadata.namespace === 'c1'
        ? Promise.reject(errorForStatus(404, answer as KubeStatus, { method: 'POST', path: kind.plural }))
        : create(kind, object, options);
    for (const cluster of ['c1', 'c2']) await fleet.application(cluster);
    await fleet.settle(600_000);
    expect([clustersOf({ works: fleet.works() }), fleet.errors]).toEqual([['c2'], []]);
    expect(fleet.warnings()).toEqual([
      'pull model: no namespace on the hub, so nothing is made for them until they are accepted: c1',
    ]);
    hub.create = create;
    await fleet.settle(60_000);
    expect(new Set(clustersOf({ works: fleet.works() }))).toEqual(new Set(['c1', 'c2']));
  });

  it('says which works on a cluster have to stay until their removal is judged', async () => {
    fleet = await fleetOf(...CLUSTERS);
    for (const cluster of CLUSTERS) await fleet.application(cluster);
    await fleet.settle();
    expect(fleet.leavingOn('c1')).toEqual([]);
    for (const cluster of CLUSTERS) await fleet.delete(`shop-${cluster}`);
    await fleet.settle(300);
    expect(fleet.leavingOn('c1')).toEqual(['the removal of Application argocd/shop-c1 is not judged yet']);
    await fleet.settle();
    expect(fleet.leavingOn('c1')).toEqual([fleet.held[0]?.message]);
  });

  it('writes nothing after a restart', async () => {
    fleet = await fleetOf('c1', 'c2');
    await fleet.application('c1');
    await fleet.application('c2');
    await fleet.settle();
    await fleet.report('c1', RUNS);
    await fleet.settle();
    await fleet.stop();
    const before = fleet.hub.writes.length;
    await fleet.start();
    await fleet.settle(60_000);
    expect(fleet.hub.writes.slice(before)).toEqual([]);
  });

  it('waits for the ManagedCluster, and says so', async () => {
    fleet = await fleetOf('c1');
    await fleet.application('c9');
    await fleet.settle();
    expect(fleet.works()).toEqual([]);
    expect((await fleet.get('shop-c9'))?.status?.conditions?.map(({ type }) => type)).toEqual([
      'MemberUnknownError',
    ]);
    await fleet.cluster('c9');
    await fleet.settle();
    expect(clustersOf({ works: fleet.works() })).toEqual(['c9']);
    expect((await fleet.get('shop-c9'))?.status?.conditions).toEqual([]);
  });

  it('keeps the work where a cluster was mistyped, and moves it where it was not', async () => {
    fleet = await fleetOf('c1', 'c2');
    await fleet.application('c1', { name: 'shop' });
    await fleet.settle();
    const to = (cluster: string) =>
      fleet.patch('shop', {
        metadata: { annotations: { 'apps.open-cluster-management.io/ocm-managed-cluster': cluster } },
      });
    await to('c22');
    await fleet.settle();
    expect(clustersOf({ works: fleet.works() })).toEqual(['c1']);
    await to('c2');
    await fleet.settle();
    expect(clustersOf({ works: fleet.works() })).toEqual(['c2']);
    expect(fleet.written.at(-1)).toMatchObject({ action: 'deleted', cluster: 'c1', reason: 'moved' });
  });

  it('leaves a work of this name alone that carries something else', async () => {
    fleet = await fleetOf('c1');
    await fleet.application('c1');
    await fleet.settle();
    const uid = (await fleet.get('shop-c1'))?.metadata.uid ?? '';
    await fleet.stop();
    const name = fleet.work('c1')?.metadata.name ?? '';
    await fleet.annotateWork('c1', { 'apps.open-cluster-management.io/hub-application-name': 'other' });
    expect(name).toBe(`shop-c1-${uid.slice(0, 5)}`);
    await fleet.start();
    expect(fleet.errors.map(String).join()).toContain('does not carry the Application');
  });
});

describe('the status of the hub’s Application', () => {
  it('says what the cluster reports, in one write for each change', async () => {
    fleet = await fleetOf('c1');
    await fleet.application('c1');
    await fleet.settle();
    const before = fleet.hub.writes.length;
    await fleet.report('c1', RUNS);
    await fleet.settle();
    await fleet.report('c1', RUNS);
    await fleet.settle();
    expect((await fleet.get('shop-c1'))?.status).toEqual({
      health: { status: 'Healthy' },
      sync: { status: 'Synced', revision: 'abc' },
    });
    const writes = fleet.hub.writes.slice(before).filter((line) => line.includes(' applications '));
    expect(writes).toEqual(['PATCH applications argocd/shop-c1']);
  });

  it('carries an operation until the cluster has finished it', async () => {
    fleet = await fleetOf('c1');
    await fleet.application('c1');
    await fleet.settle();
    const operation = { sync: { revision: 'abc' } };
    const carried = () => fleet.work('c1')?.spec?.workload?.manifests?.[0]?.['operation'];
    const at = (operationStatePhase: string, reconciledAt = '2026-01-02T03:03:00Z') => {
      const operationStateStartedAt = '2026-01-02T03:04:05Z';
      return fleet.report('c1', { ...RUNS, operationStatePhase, operationStateStartedAt, reconciledAt });
    };
    await fleet.patch('shop-c1', { operation });
    await fleet.settle();
    expect(carried()).toEqual(operation);
    await at('Running');
    await fleet.settle();
    expect(carried()).toEqual(operation);
    expect((await fleet.get('shop-c1'))?.status?.operationState?.phase).toBe('Running');
    // Argo CD has not compared since: a RollingSync that sees the end now would request the operation once more.
    await at('Succeeded');
    await fleet.settle();
    expect(carried()).toEqual(operation);
    expect((await fleet.get('shop-c1'))?.status?.operationState?.phase).toBe('Running');
    await at('Succeeded', '2026-01-02T03:04:05Z');
    await fleet.settle();
    expect((await fleet.get('shop-c1'))?.operation).toBeUndefined();
    expect((await fleet.get('shop-c1'))?.status?.reconciledAt).toBe('2026-01-02T03:04:05Z');
    expect((await fleet.get('shop-c1'))?.status?.operationState?.phase).toBe('Succeeded');
    expect(carried()).toBeUndefined();
    // The end of the last one does not end the next one.
    await fleet.patch('shop-c1', { operation });
    await fleet.settle();
    expect(carried()).toEqual(operation);
  });

  it('carries a refresh until the cluster has compared the Application, and copies the time', async () => {
    const [REFRESH, TIME] = ['argocd.argoproj.io/refresh', 'argocd.argoproj.io/refresh-timestamp'];
    fleet = await fleetOf('c1');
    await fleet.application('c1');
    await fleet.settle();
    const manifest = () => fleet.work('c1')?.spec?.workload?.manifests?.[0]?.metadata.annotations ?? {};
    const isReported = () =>
      JSON.stringify(fleet.work('c1')?.spec?.manifestConfigs).includes('"path":".status.reconciledAt"');
    const reconciled = (reconciledAt: string, observed = fleet.work('c1')?.metadata.generation) =>
      fleet.report('c1', { ...RUNS, reconciledAt }, [
        { type: 'Applied', status: 'True', observedGeneration: observed },
      ]);
    const annotations = async () => (await fleet.get('shop-c1'))?.metadata.annotations ?? {};
    expect(isReported()).toBe(false);
    const time = new Date(fleet.clock.now()).toISOString();
    await fleet.patch('shop-c1', { metadata: { annotations: { [REFRESH]: 'normal', [TIME]: time } } });
    await fleet.settle();
    expect(manifest()).toMatchObject({ [REFRESH]: 'normal', [TIME]: time });
    expect(isReported()).toBe(true);
    // It compared for another reason, before the agent applied the request.
    await reconciled('2000-01-02T03:04:05Z', 0);
    await fleet.settle();
    expect(await annotations()).toMatchObject({ [REFRESH]: 'normal' });
    expect((await fleet.get('shop-c1'))?.status?.reconciledAt).toBe('2000-01-02T03:04:05Z');
    const done = new Date(fleet.clock.now()).toISOString();
    await reconciled(done);
    await fleet.settle();
    expect((await fleet.get('shop-c1'))?.status?.reconciledAt).toBe(done);
    for (const key of [REFRESH, TIME]) {
      expect(await annotations()).not.toHaveProperty([key]);
      expect(manifest()).not.toHaveProperty([key]);
    }
    expect(isReported()).toBe(false);
    // A user's request has no time. The next one is another manifest: the agent would not apply an equal one.
    await fleet.patch('shop-c1', { metadata: { annotations: { [REFRESH]: 'normal' } } });
    await fleet.settle();
    const given = manifest()[TIME] ?? '';
    expect(Date.parse(given)).toBeGreaterThan(Date.parse(time));
    await fleet.settle();
    expect(manifest()[TIME]).toBe(given);
  });

  it('says that a manifest could not be applied, with the time that the agent gave', async () => {
    fleet = await fleetOf('c1');
    await fleet.application('c1');
    await fleet.settle();
    const lastTransitionTime = '2026-01-02T03:04:05Z';
    const applied = { type: 'Applied', status: 'False', message: 'no such kind', lastTransitionTime };
    await fleet.report('c1', {}, [applied]);
    await fleet.settle();
    expect((await fleet.get('shop-c1'))?.status?.conditions).toEqual([
      { type: 'MemberApplyError', message: 'Cluster c1: no such kind', lastTransitionTime },
    ]);
  });

  it('sums an ApplicationSet up in a report, and takes it away in the end', async () => {
    fleet = await fleetOf('c1', 'c2');
    await fleet.application('c1');
    await fleet.application('c2');
    await fleet.settle();
    await fleet.report('c1', RUNS);
    await fleet.settle();
    const reports = () => fleet.hub.peek(APPLICATION_SET_REPORT);
    expect(reports()).toMatchObject([
      {
        metadata: { name: 'shop', namespace: 'argocd' },
        statuses: { summary: { synced: '1', notSynced: '1', healthy: '1', clusters: '2' } },
      },
    ]);
    await fleet.delete('shop-c1');
    await fleet.delete('shop-c2');
    await fleet.settle();
    expect(reports()).toEqual([]);
  });

  it('writes no report where the hub does not have the kind', async () => {
    fleet = new PullFleet({ withReports: false });
    await fleet.cluster('c1');
    await fleet.start();
    await fleet.application('c1');
    await fleet.settle();
    expect(fleet.errors).toEqual([]);
    expect(fleet.works()).toHaveLength(1);
  });
});

describe('the removal budget', () => {
  async function fullFleet(): Promise<void> {
    fleet = await fleetOf(...CLUSTERS);
    for (const cluster of CLUSTERS) await fleet.application(cluster);
    await fleet.settle();
  }

  it('holds removals beyond it, all of them, until they are released', async () => {
    await fullFleet();
    for (const cluster of CLUSTERS) await fleet.delete(`shop-${cluster}`);
    await fleet.settle();
    expect(fleet.works()).toHaveLength(8);
    expect(fleet.held).toHaveLength(1);
    expect(fleet.warnings().join()).toContain('8 of 8 ManifestWorks of ApplicationSet argocd/shop');
    expect((await fleet.get('shop-c1'))?.status?.conditions).toMatchObject([{ type: 'RemovalHeldWarning' }]);
    expect(fleet.figures()).toMatchObject({ held: 1, works: 8 });
    await fleet.annotateWork('c3', { 'berth.dev/release': fleet.held[0]?.token ?? '' });
    await fleet.settle();
    expect(fleet.works()).toEqual([]);
    expect(await fleet.get('shop-c1')).toBeUndefined();
    expect(fleet.warnings()).toEqual([]);
  });

  it('counts removals of the last minutes, also those of another leader', async () => {
    await fullFleet();
    for (const cluster of ['c1', 'c2']) await fleet.delete(`shop-${cluster}`);
    await fleet.settle();
    expect(fleet.works()).toHaveLength(6);
    await fleet.stop();
    await fleet.delete('shop-c3');
    await fleet.start();
    await fleet.settle();
    expect(fleet.works()).toHaveLength(6);
    expect(fleet.held[0]?.message).toContain('after 2 in the last minutes');
    await fleet.settle(700_000);
    expect(fleet.works()).toHaveLength(5);
  });

  it('sweeps works whose Applications went while nobody looked', async () => {
    await fullFleet();
    await fleet.stop();
    for (const cluster of ['c1', 'c2']) {
      await fleet.patch(`shop-${cluster}`, { metadata: { finalizers: [] } });
      await fleet.delete(`shop-${cluster}`);
    }
    await fleet.start();
    await fleet.settle();
    expect(clustersOf({ works: fleet.works() })).toEqual(CLUSTERS.slice(2));
  });

  it('does not count a work that a new one on the same cluster replaces', async () => {
    await fullFleet();
    await fleet.stop();
    for (const cluster of CLUSTERS) {
      await fleet.patch(`shop-${cluster}`, { metadata: { finalizers: [] } });
      await fleet.delete(`shop-${cluster}`);
      await fleet.application(cluster);
    }
    await fleet.start();
    await fleet.settle();
    expect(fleet.works()).toHaveLength(8);
    expect(fleet.held).toEqual([]);
    expect(fleet.written.filter(({ reason }) => reason === 'replaced')).toHaveLength(8);
  });
});

describe('a cluster that is cut off', () => {
  it('is named on the copy that replaces it, until it confirms', async () => {
    fleet = await fleetOf('c1', 'c2');
    await fleet.application('c1');
    await fleet.settle();
    await fleet.hold('c1');
    await fleet.report('c1', RUNS);
    await fleet.cluster('c1', 'Unknown');
    await fleet.settle();
    expect((await fleet.get('shop-c1'))?.status?.conditions).toMatchObject([
      { type: 'MemberUnreachableWarning' },
    ]);
    await fleet.application('c2');
    await fleet.delete('shop-c1');
    await fleet.settle();
    expect(await fleet.get('shop-c1')).toBeUndefined();
    expect(clustersOf({ works: fleet.works() })).toEqual(['c1', 'c2']);
    expect((await fleet.get('shop-c2'))?.status?.conditions).toMatchObject([
      { type: 'UnconfirmedRemovalWarning', message: expect.stringContaining('c1') as string },
    ]);
    expect(fleet.warnings().join()).toContain('may still run');
    expect(fleet.figures()).toMatchObject({ unconfirmed: 1 });
    await fleet.cluster('c1', 'True');
    await fleet.confirm('c1');
    await fleet.settle();
    expect((await fleet.get('shop-c2'))?.status?.conditions).toEqual([]);
    expect(fleet.warnings()).toEqual([]);
  });

  it('keeps the next copy from starting where only one may run', async () => {
    const annotations = { 'berth.dev/max-copies': '1' };
    fleet = await fleetOf('c1', 'c2');
    await fleet.application('c1', { annotations });
    await fleet.settle();
    await fleet.hold('c1');
    await fleet.cluster('c1', 'Unknown');
    await fleet.application('c2', { annotations });
    await fleet.delete('shop-c1');
    await fleet.settle();
    expect(clustersOf({ works: fleet.works() })).toEqual(['c1']);
    expect((await fleet.get('shop-c2'))?.status?.conditions).toMatchObject([
      { type: 'CopiesExceededWarning' },
    ]);
    await fleet.confirm('c1');
    await fleet.settle();
    expect(clustersOf({ works: fleet.works() })).toEqual(['c2']);
    expect((await fleet.get('shop-c2'))?.status?.conditions).toEqual([]);
  });

  it('refuses a number of copies that it cannot read', async () => {
    fleet = await fleetOf('c1');
    await fleet.application('c1', { annotations: { 'berth.dev/max-copies': 'one' } });
    await fleet.settle();
    expect(fleet.works()).toEqual([]);
    expect(String(fleet.errors[0])).toContain('expected a number from 1');
  });
});
