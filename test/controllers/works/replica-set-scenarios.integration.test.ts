import { afterEach, describe, expect, it } from 'vitest';
import { MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET, PLACEMENT } from '@berth/kube/model/kinds';
import type { ManifestWorkReplicaSetStatus } from '@berth/ocm/kind/manifest-work-replica-set';
import { AuditingKubeApi } from '../../fakes/auditing-kube-api.ts';
import { template } from '../../core/work/replica-set-harness.ts';
import { startEmbeddedFleet } from './embedded-fleet.ts';
import { Fleet, WORK_API } from './work-fleet.ts';

const KEY = { namespace: 'team', name: 'web' };
const GOOD = { Applied: 'True', Available: 'True' } as const;
const SIX = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'];
let fleet: Fleet;
let close: () => Promise<void>;
afterEach(() => close());

/** Where the scenarios run: the hub in memory is quick, the embedded one is the real thing. */
const HUBS = {
  'a hub in memory': () => {
    const made = new Fleet();
    return Promise.resolve({ fleet: made, close: () => made.stop() });
  },
  'the embedded hub': () => startEmbeddedFleet(['team', 'c0', ...SIX, 'c7']),
} as const;
const EACH_HUB = Object.entries(HUBS).map(([name, open]) => ({ name, open }));

async function openFleet(open: (typeof EACH_HUB)[number]['open']): Promise<Fleet> {
  ({ fleet, close } = await open());
  return fleet;
}

async function status(): Promise<ManifestWorkReplicaSetStatus> {
  const live = await fleet.hub.get(MANIFEST_WORK_REPLICA_SET, KEY);
  return live?.['status'] ?? {};
}

async function clusters(): Promise<string[]> {
  return (await fleet.works()).map(({ metadata }) => metadata.namespace ?? '').sort();
}

/** The scenarios that upstream tests its controller with. */
describe.each(EACH_HUB)('a replica set over a placement, on $name', ({ open }) => {
  it('has a labelled work per cluster and counts them', async () => {
    await (await openFleet(open)).start();
    await fleet.place('all', ['c1', 'c2', 'c3']);
    await fleet.replicaSet('1');
    await fleet.settle();
    for (const work of await fleet.works())
      expect(work.metadata.labels).toMatchObject({
        'work.open-cluster-management.io/manifestworkreplicaset': 'team.web',
        'work.open-cluster-management.io/placementname': 'all',
      });
    expect((await status()).summary).toMatchObject({ total: 3, desiredTotal: 3, updated: 3, available: 0 });
    expect((await status()).placementSummary).toMatchObject([
      { name: 'all', availableDecisionGroups: '1 (3 / 3 clusters applied)' },
    ]);
    await fleet.place('all', ['c1', 'c2']);
    await fleet.settle();
    expect((await status()).summary).toMatchObject({ total: 2 });
  });

  it('has neither work nor condition before its finalizer', async () => {
    await openFleet(open);
    const audit = new AuditingKubeApi(fleet.hub);
    await fleet.start(audit);
    await fleet.place('all', ['c1']);
    await fleet.replicaSet('1');
    await fleet.settle();
    expect([...audit.used].filter((right) => /^(create|update|patch)/.test(right))).toEqual([
      'patch manifestworkreplicasets',
      'create manifestworks',
      'patch manifestworkreplicasets/status',
    ]);
  });

  it('sums up what its works say, and takes it back when they do', async () => {
    await (await openFleet(open)).start();
    await fleet.place('all', ['c1', 'c2']);
    await fleet.replicaSet('1');
    await fleet.settle();
    await fleet.report(['c1', 'c2'], { ...GOOD, Progressing: 'True', Degraded: 'False' });
    expect((await status()).summary).toMatchObject({
      total: 2,
      available: 2,
      progressing: 2,
      degraded: 0,
      applied: 2,
    });
    expect(await fleet.conditions()).toMatchObject({
      PlacementRolledOut: 'False Progressing',
      ManifestworkApplied: 'False Processing',
    });
    await fleet.report(['c1', 'c2'], { ...GOOD, Progressing: 'False' });
    expect(await fleet.conditions()).toMatchObject({
      PlacementRolledOut: 'True Complete',
      ManifestworkApplied: 'True AsExpected',
    });
    await fleet.report(['c2'], { ...GOOD, Progressing: 'True', Degraded: 'True' });
    expect(await fleet.conditions()).toMatchObject({
      PlacementRolledOut: 'False Progressing',
      ManifestworkApplied: 'False NotAsExpected',
    });
  });

  it('sums up over its placements', async () => {
    await (await openFleet(open)).start();
    await fleet.place('all', ['c1', 'c2']);
    await fleet.place('more', ['c2', 'c3']);
    await fleet.replicaSet('1', { placements: ['all', 'more'] });
    await fleet.settle();
    expect(await clusters()).toEqual(['c1', 'c2', 'c2', 'c3']);
    expect((await status()).summary).toMatchObject({ total: 4, desiredTotal: 4 });
    expect((await status()).placementSummary?.map(({ name, summary }) => [name, summary.total])).toEqual([
      ['all', 2],
      ['more', 2],
    ]);
  });

  it('moves to the works of another placement', async () => {
    await (await openFleet(open)).start();
    await fleet.place('all', ['c1', 'c2']);
    await fleet.place('more', ['c3']);
    await fleet.replicaSet('1');
    await fleet.settle();
    await fleet.replicaSet('1', { placements: ['more'] });
    await fleet.settle();
    expect(await clusters()).toEqual(['c3']);
  });

  it.each(['Background', 'Foreground'])('takes its works with it when it is deleted: %s', async (cascade) => {
    await (await openFleet(open)).start();
    await fleet.place('all', ['c1', 'c2']);
    await fleet.replicaSet('1', { cascade });
    await fleet.settle();
    const [held] = await fleet.works();
    const key = { namespace: held?.metadata.namespace ?? '', name: held?.metadata.name ?? '' };
    await fleet.hub.mergePatch(MANIFEST_WORK, key, { metadata: { finalizers: ['example.com/held'] } });
    await fleet.hub.delete(MANIFEST_WORK_REPLICA_SET, KEY);
    await fleet.settle();
    expect(await clusters()).toEqual(['c1']);
    const there = (await fleet.hub.get(MANIFEST_WORK_REPLICA_SET, KEY)) !== undefined;
    expect(there).toBe(cascade === 'Foreground');
    await fleet.hub.mergePatch(MANIFEST_WORK, key, { metadata: { finalizers: null } });
    await fleet.settle(10_000);
    expect(await clusters()).toEqual([]);
    expect(await fleet.hub.get(MANIFEST_WORK_REPLICA_SET, KEY)).toBeUndefined();
  });

  it('is empty when nothing is selected, and says so', async () => {
    await (await openFleet(open)).start();
    await fleet.place('all', []);
    await fleet.replicaSet('1');
    await fleet.settle();
    expect(await fleet.conditions()).toEqual({
      PlacementVerified: 'False PlacementDecisionEmpty',
      PlacementRolledOut: 'False Progressing',
      ManifestworkApplied: 'False PlacementDecisionEmpty',
    });
  });

  it('says that its placement is missing, and keeps the works', async () => {
    await (await openFleet(open)).start();
    await fleet.place('all', ['c1']);
    await fleet.replicaSet('1');
    await fleet.settle();
    await fleet.hub.delete(PLACEMENT, { namespace: 'team', name: 'all' });
    await fleet.settle();
    expect(await fleet.conditions()).toMatchObject({ PlacementVerified: 'False PlacementDecisionNotFound' });
    expect(await clusters()).toEqual(['c1']);
  });

  it.each([
    { name: 'no placement label', label: null },
    { name: 'the label of a placement that is not referenced', label: 'old' },
  ])('deletes a work of its own with $name', async ({ label }) => {
    await (await openFleet(open)).start();
    await fleet.place('all', ['c1']);
    await fleet.replicaSet('1');
    await fleet.settle();
    const labels = {
      'work.open-cluster-management.io/manifestworkreplicaset': 'team.web',
      ...(label === null ? {} : { 'work.open-cluster-management.io/placementname': label }),
    };
    const metadata = { name: 'left-over', namespace: 'c7', labels };
    await fleet.hub.create(MANIFEST_WORK, {
      apiVersion: `${WORK_API}/v1`,
      kind: 'ManifestWork',
      metadata,
      spec: template('1'),
    });
    await fleet.settle();
    expect(await clusters()).toEqual(['c1']);
  });

  it('takes over a work that another controller made under a generated name', async () => {
    await openFleet(open);
    const labels = {
      'work.open-cluster-management.io/manifestworkreplicaset': 'team.web',
      'work.open-cluster-management.io/placementname': 'all',
    };
    const metadata = { name: 'webx7k2p', namespace: 'c1', labels };
    await fleet.hub.create(MANIFEST_WORK, {
      apiVersion: `${WORK_API}/v1`,
      kind: 'ManifestWork',
      metadata,
      spec: template('0'),
    });
    await fleet.place('all', ['c1']);
    await fleet.replicaSet('1');
    await fleet.start();
    await fleet.settle();
    expect((await fleet.works()).map((work) => work.metadata.name)).toEqual(['webx7k2p']);
    expect(await fleet.contents()).toEqual({ c1: '1' });
  });
});

describe.each(EACH_HUB)('a progressive rollout, on $name', ({ open }) => {
  const start = async (progressive: object, upstream = false): Promise<void> => {
    await (await openFleet(open)).start();
    await fleet.place('all', SIX);
    const annotations = upstream ? { 'berth.dev/rollout-rules': 'upstream' } : {};
    await fleet.replicaSet('1', { strategy: { type: 'Progressive', progressive }, annotations });
    await fleet.settle();
  };
  const done = { ...GOOD, Progressing: 'False' } as const;
  const failed = { ...GOOD, Progressing: 'True', Degraded: 'True' } as const;

  it.each([false, true])('goes two by two (upstream rules: %s)', async (upstream) => {
    await start({ maxConcurrency: 2 }, upstream);
    expect(await clusters()).toEqual(['c1', 'c2']);
    await fleet.report(['c1', 'c2'], done);
    expect(await clusters()).toHaveLength(4);
    expect(await fleet.conditions()).toMatchObject({ PlacementRolledOut: 'False Progressing' });
    await fleet.report(SIX, done);
    expect(await clusters()).toEqual(SIX);
    await fleet.report(SIX, done);
    expect(await fleet.conditions()).toMatchObject({ PlacementRolledOut: 'True Complete' });
  });

  it.each([false, true])('stays where more fail than it tolerates (upstream rules: %s)', async (upstream) => {
    await start({ maxConcurrency: 2, maxFailures: 0 }, upstream);
    await fleet.report(['c1', 'c2'], failed);
    await fleet.settle(60_000);
    expect(await clusters()).toEqual(['c1', 'c2']);
  });

  it.each([false, true])('waits for the time of success (upstream rules: %s)', async (upstream) => {
    await start({ maxConcurrency: 6, minSuccessTime: '5s' }, upstream);
    await fleet.report(SIX, done);
    expect(await fleet.conditions()).toMatchObject({ PlacementRolledOut: 'False Progressing' });
    await fleet.settle(10_000);
    expect(await fleet.conditions()).toMatchObject({ PlacementRolledOut: 'True Complete' });
  });

  it.each([false, true])(
    'passes a cluster over its deadline, and never calls that complete (upstream rules: %s)',
    async (upstream) => {
      await start({ maxConcurrency: 1, maxFailures: 1, progressDeadline: '5s' }, upstream);
      await fleet.report(['c1'], failed);
      expect(await clusters()).toEqual(['c1']);
      await fleet.settle(10_000);
      expect(await clusters()).toEqual(['c1', 'c2']);
      for (const cluster of SIX.slice(1)) await fleet.report([cluster], done);
      await fleet.settle(10_000);
      expect(await clusters()).toEqual(SIX);
      expect(await fleet.conditions()).toMatchObject({ PlacementRolledOut: 'False Progressing' });
    },
  );

  it('brings a changed template to group after group', async () => {
    await (await openFleet(open)).start();
    const strategy = { type: 'ProgressivePerGroup', progressivePerGroup: {} };
    await fleet.place('all', ['c1', 'c2'], ['c3']);
    await fleet.replicaSet('1', { strategy });
    await fleet.settle();
    expect(await clusters()).toEqual(['c1', 'c2']);
    await fleet.report(SIX, done);
    await fleet.report(SIX, done);
    await fleet.replicaSet('2', { strategy });
    await fleet.settle();
    expect(await fleet.contents()).toEqual({ c1: '2', c2: '2', c3: '1' });
    await fleet.report(['c1', 'c2'], done);
    expect(await fleet.contents()).toEqual({ c1: '2', c2: '2', c3: '2' });
  });

  it('takes a cluster that joins in the middle, and forgets one that leaves', async () => {
    await start({ maxConcurrency: 2 });
    await fleet.place('all', ['c0', 'c2', 'c3']);
    await fleet.settle();
    // c2 is at work: one place is free, and c0 is first by name.
    expect(await clusters()).toEqual(['c0', 'c2']);
    await fleet.report(['c0', 'c2'], done);
    expect(await clusters()).toEqual(['c0', 'c2', 'c3']);
  });
});
