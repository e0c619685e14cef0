import { afterEach, describe, expect, it } from 'vitest';
import { MANAGED_CLUSTER, MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET } from '@berth/kube/model/kinds';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi, WatchOptions } from '@berth/kube/model/kube-api';
import { template } from '../../core/work/replica-set-harness.ts';
import { Fleet, memoryHub, WORK_API } from './work-fleet.ts';

const GOOD = { Applied: 'True', Available: 'True' } as const;
let fleet: Fleet;
afterEach(() => fleet.stop());

describe('work controllers', () => {
  it('puts a finalizer, then a work on every selected cluster, and follows the placement', async () => {
    fleet = await new Fleet().start();
    await fleet.place('all', ['c1', 'c2']);
    await fleet.replicaSet('1');
    await fleet.settle();
    expect(await fleet.contents()).toEqual({ c1: '1', c2: '1' });
    const live = await fleet.hub.get(MANIFEST_WORK_REPLICA_SET, { namespace: 'team', name: 'web' });
    expect(live?.metadata.finalizers).toEqual(['work.open-cluster-management.io/manifest-work-cleanup']);
    await fleet.place('all', ['c2', 'c3']);
    await fleet.settle();
    expect(await fleet.contents()).toEqual({ c2: '1', c3: '1' });
    expect(fleet.written.map(({ kind, cluster }) => `${kind} ${cluster}`)).toEqual([
      'created c1',
      'created c2',
      'created c3',
      'deleted c1',
    ]);
  });

  it('never makes the work again of a cluster that is deleted while the decision names it', async () => {
    fleet = await new Fleet().start();
    await fleet.place('all', ['c1']);
    await fleet.replicaSet('1');
    await fleet.settle();
    await fleet.hub.delete(MANAGED_CLUSTER, { namespace: '', name: 'c1' });
    await fleet.settle();
    expect(await fleet.contents()).toEqual({ c1: '1' });
    // Clean-up of another controller, which waits for nothing.
    for (const { metadata } of await fleet.works())
      await fleet.hub.delete(MANIFEST_WORK, { namespace: 'c1', name: metadata.name });
    await fleet.settle(60_000);
    await fleet.replicaSet('2');
    await fleet.settle(60_000);
    expect(await fleet.works()).toEqual([]);
    await fleet.leave('c1');
    await fleet.settle(60_000);
    await fleet.stop();
    await fleet.start();
    expect(await fleet.works()).toEqual([]);
    await fleet.join('c1');
    await fleet.settle();
    expect(await fleet.contents()).toEqual({ c1: '2' });
  });

  it('asks the hub before it makes a work, because the watch of clusters may be behind that of works', async () => {
    const hub = memoryHub();
    fleet = await new Fleet(hub).start(withoutClusterEvents(hub));
    await fleet.place('all', ['c1']);
    await fleet.replicaSet('1');
    await fleet.settle();
    // The controllers do not hear of this.
    await hub.delete(MANAGED_CLUSTER, { namespace: '', name: 'c1' });
    for (const { metadata } of await fleet.works())
      await hub.delete(MANIFEST_WORK, { namespace: 'c1', name: metadata.name });
    await fleet.settle(10_000);
    expect(fleet.written.map(({ kind }) => kind)).toEqual(['created']);
    expect(await fleet.works()).toEqual([]);
  });

  it('writes nothing after a restart', async () => {
    const hub = memoryHub();
    fleet = await new Fleet(hub).start();
    await fleet.place('all', ['c1', 'c2']);
    await fleet.replicaSet('1');
    await fleet.settle();
    await fleet.report(['c1', 'c2'], GOOD);
    await fleet.stop();
    const before = hub.writes.length;
    await fleet.start();
    await fleet.settle(60_000);
    expect(hub.writes.slice(before)).toEqual([]);
  });

  it('rolls a change out one cluster at a time, and stops where it fails', async () => {
    fleet = await new Fleet().start();
    const strategy = { type: 'Progressive', progressive: { maxConcurrency: 1, progressDeadline: '60s' } };
    await fleet.place('all', ['c1', 'c2', 'c3']);
    await fleet.replicaSet('1', { strategy });
    await fleet.settle();
    for (const cluster of ['c1', 'c2', 'c3']) await fleet.report([cluster], GOOD);
    expect(await fleet.conditions()).toMatchObject({ PlacementRolledOut: 'True Complete' });
    await fleet.replicaSet('2', { strategy });
    await fleet.settle();
    expect(await fleet.contents()).toEqual({ c1: '2', c2: '1', c3: '1' });
    await fleet.report(['c1'], GOOD);
    expect(await fleet.contents()).toEqual({ c1: '2', c2: '2', c3: '1' });
    // c2 never answers: its deadline passes, which is one failure more than allowed.
    await fleet.settle(120_000);
    expect(await fleet.contents()).toEqual({ c1: '2', c2: '2', c3: '1' });
    expect(await fleet.conditions()).toMatchObject({ PlacementRolledOut: 'False Progressing' });
  });

  it('goes back to the last good template when too many clusters fail, until the template changes', async () => {
    fleet = await new Fleet().start();
    const strategy = { type: 'Progressive', progressive: { maxConcurrency: 1 } };
    const annotations = { 'berth.dev/rollback': 'automatic' };
    await fleet.place('all', ['c1', 'c2']);
    await fleet.replicaSet('1', { strategy, annotations });
    await fleet.settle();
    for (const cluster of ['c1', 'c2']) await fleet.report([cluster], GOOD);
    await fleet.replicaSet('2', { strategy, annotations });
    await fleet.settle();
    expect(await fleet.contents()).toEqual({ c1: '2', c2: '1' });
    await fleet.report(['c1'], { Applied: 'False' });
    await fleet.settle(6_000);
    expect(await fleet.contents()).toEqual({ c1: '1', c2: '1' });
    expect(await fleet.conditions()).toMatchObject({ PlacementRolledOut: 'False Progressing' });
    await fleet.replicaSet('3', { strategy, annotations });
    await fleet.settle();
    await fleet.report(['c1'], GOOD);
    expect(await fleet.contents()).toEqual({ c1: '3', c2: '3' });
  });

  it('does not go back because a cluster could not apply a version for a moment', async () => {
    fleet = await new Fleet().start();
    const strategy = { type: 'Progressive', progressive: { maxConcurrency: 1 } };
    const annotations = { 'berth.dev/rollback': 'automatic' };
    await fleet.place('all', ['c1', 'c2']);
    await fleet.replicaSet('1', { strategy, annotations });
    await fleet.settle();
    for (const cluster of ['c1', 'c2']) await fleet.report([cluster], GOOD);
    await fleet.replicaSet('2', { strategy, annotations });
    await fleet.settle();
    await fleet.report(['c1'], { Applied: 'True' });
    await fleet.report(['c1'], { Applied: 'False' });
    await fleet.settle(1_000);
    expect(await fleet.contents()).toEqual({ c1: '2', c2: '1' });
    await fleet.report(['c1'], GOOD);
    expect(await fleet.contents()).toEqual({ c1: '2', c2: '2' });
    await fleet.settle(60_000);
    expect(await fleet.contents()).toEqual({ c1: '2', c2: '2' });
  });

  it('goes back everywhere although one cluster stays broken', async () => {
    fleet = await new Fleet().start();
    const strategy = { type: 'Progressive', progressive: { maxConcurrency: 1, maxFailures: 2 } };
    const annotations = { 'berth.dev/rollback': 'manual' };
    await fleet.place('all', ['c1', 'c2', 'c3', 'c4']);
    await fleet.replicaSet('1', { strategy, annotations });
    await fleet.settle();
    for (const cluster of ['c1', 'c2', 'c3', 'c4']) await fleet.report([cluster], GOOD);
    await fleet.replicaSet('2', { strategy, annotations });
    await fleet.settle();
    for (const cluster of ['c1', 'c2', 'c3', 'c4']) await fleet.report([cluster], GOOD);
    // Recorded as good meanwhile: what it goes back to is 2.
    await fleet.replicaSet('3', { strategy, annotations });
    await fleet.settle();
    for (const cluster of ['c1', 'c2']) await fleet.report([cluster], GOOD);
    await fleet.replicaSet('3', { strategy, annotations: { ...annotations, 'berth.dev/rollout': 'abort' } });
    await fleet.settle();
    await fleet.report(['c1'], { Applied: 'False' });
    expect(await fleet.contents()).toEqual({ c1: '2', c2: '2', c3: '2', c4: '2' });
  });

  it('says when an annotation of ours means nothing', async () => {
    fleet = await new Fleet().start();
    await fleet.place('all', ['c1']);
    await fleet.replicaSet('1', { annotations: { 'berth.dev/rollout': 'paused' } });
    await fleet.settle();
    const live = await fleet.hub.get(MANIFEST_WORK_REPLICA_SET, { namespace: 'team', name: 'web' });
    expect(JSON.stringify(live?.['status'])).toContain(
      'annotation berth.dev/rollout is \\"paused\\", expected one of pause',
    );
  });

  it('answers as upstream does when the replica set asks for it', async () => {
    fleet = await new Fleet().start();
    const strategy = { type: 'Progressive', progressive: { maxConcurrency: 1 } };
    await fleet.place('all', ['c1', 'c2']);
    await fleet.replicaSet('1', { strategy, annotations: { 'berth.dev/rollout-rules': 'upstream' } });
    await fleet.settle();
    await fleet.report(['c1'], GOOD);
    expect(await fleet.contents()).toEqual({ c1: '1' });
    await fleet.report(['c1'], { ...GOOD, Progressing: 'False' });
    expect(await fleet.contents()).toEqual({ c1: '1', c2: '1' });
  });

  it('deletes the works with the replica set, also one that the watch has not shown yet', async () => {
    fleet = await new Fleet().start();
    await fleet.place('all', ['c1', 'c2']);
    await fleet.replicaSet('1');
    await fleet.settle();
    await fleet.hub.delete(MANIFEST_WORK_REPLICA_SET, { namespace: 'team', name: 'web' });
    await fleet.settle();
    expect(await fleet.works()).toEqual([]);
    expect(
      await fleet.hub.get(MANIFEST_WORK_REPLICA_SET, { namespace: 'team', name: 'web' }),
    ).toBeUndefined();
  });

  it('waits for the works when it is deleted in the foreground', async () => {
    fleet = await new Fleet().start();
    await fleet.place('all', ['c1']);
    await fleet.replicaSet('1', { cascade: 'Foreground' });
    await fleet.settle();
    const [work] = await fleet.works();
    const key = { namespace: 'c1', name: work?.metadata.name ?? '' };
    await fleet.hub.mergePatch(MANIFEST_WORK, key, { metadata: { finalizers: ['agent'] } });
    await fleet.hub.delete(MANIFEST_WORK_REPLICA_SET, { namespace: 'team', name: 'web' });
    await fleet.settle();
    expect(await fleet.hub.get(MANIFEST_WORK_REPLICA_SET, { namespace: 'team', name: 'web' })).toBeDefined();
    await fleet.hub.mergePatch(MANIFEST_WORK, key, { metadata: { finalizers: [] } });
    await fleet.settle();
    expect(
      await fleet.hub.get(MANIFEST_WORK_REPLICA_SET, { namespace: 'team', name: 'web' }),
    ).toBeUndefined();
  });

  it('says whose name is taken, and leaves the other work alone', async () => {
    fleet = await new Fleet().start();
    await fleet.place('all', ['c1']);
    await fleet.replicaSet('1');
    await fleet.settle();
    const [work] = await fleet.works();
    const key = { namespace: 'c1', name: work?.metadata.name ?? '' };
    await fleet.hub.mergePatch(MANIFEST_WORK, key, { metadata: { labels: null } });
    await fleet.settle();
    expect(await fleet.works()).toHaveLength(1);
  });
});

describe('clean-up of completed works', () => {
  const work = (
    ttlSecondsAfterFinished: number | undefined,
    labels: Record<string, string> = {},
  ): KubeObject => ({
    apiVersion: `${WORK_API}/v1`,
    kind: 'ManifestWork',
    metadata: { name: 'job', namespace: 'c1', labels },
    spec: { ...template('1'), deleteOption: { ttlSecondsAfterFinished } },
  });

  it.each([
    { name: 'after the time', ttl: 30, complete: 'True', waitMs: 31_000, gone: true },
    { name: 'not before', ttl: 30, complete: 'True', waitMs: 20_000, gone: false },
    { name: 'at once with 0', ttl: 0, complete: 'True', waitMs: 100, gone: true },
    { name: 'not while incomplete', ttl: 0, complete: 'False', waitMs: 100_000, gone: false },
    { name: 'not without a time', ttl: undefined, complete: 'True', waitMs: 100_000, gone: false },
    {
      name: 'not the work of a replica set',
      ttl: 0,
      complete: 'True',
      waitMs: 100_000,
      gone: false,
      labels: { 'work.open-cluster-management.io/manifestworkreplicaset': 'team.web' },
    },
  ] as const)('$name', async ({ ttl, complete, waitMs, gone, ...more }) => {
    fleet = await new Fleet().start();
    await fleet.put(MANIFEST_WORK, work(ttl, 'labels' in more ? more.labels : {}));
    await fleet.report(['c1'], { Complete: complete });
    await fleet.settle(waitMs - 1_000 > 0 ? waitMs - 1_000 : 100);
    expect((await fleet.works()).length).toBe(gone ? 0 : 1);
  });
});

/** The hub, but its watch of clusters falls silent once the first cluster is there. */
function withoutClusterEvents(hub: KubeApi): KubeApi {
  return new Proxy(hub, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (property !== 'watch') return typeof value === 'function' ? value.bind(target) : value;
      return async function* (of: KindInfo, options: WatchOptions) {
        for await (const event of target.watch(of, options)) {
          if (of !== MANAGED_CLUSTER || event.type === 'added') yield event;
        }
      };
    },
  });
}
