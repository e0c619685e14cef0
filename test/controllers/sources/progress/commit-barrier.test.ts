import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Reflector } from '@berth/kube/cache/reflector';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { CommitBarrier } from '../../../../src/controllers/sources/progress/commit-barrier.ts';
import { cluster } from '../../../app/serve/fleet-fixture.ts';

const MINUTE_MS = 60_000;
const C1 = { namespace: '', name: 'c1' };

/** A hub whose watch is silent: the store shows lists and answers alone. */
class UnwatchedHub extends FakeKubeApi {
  override async *watch(...[, options]: Parameters<FakeKubeApi['watch']>): AsyncGenerator<never> {
    options.onOpen?.();
    await new Promise((resolve) => options.signal.addEventListener('abort', resolve, { once: true }));
  }
}

describe('CommitBarrier', () => {
  let clock: FakeClock;
  let hub: UnwatchedHub;
  let clusters: Reflector;
  let barrier: CommitBarrier;
  let stop: AbortController;
  let running: Promise<void>;
  let told: number;
  let c1: KubeObject;
  beforeEach(async () => {
    [clock, hub, stop, told] = [new FakeClock(), new UnwatchedHub(), new AbortController(), 0];
    c1 = await hub.create(MANAGED_CLUSTER, cluster('c1'));
    const parts = { clock, random: () => 0.5, log: new SilentLogger(), silenceLimitMs: 24 * 60 * MINUTE_MS };
    clusters = new Reflector({ ...parts, api: hub, kind: MANAGED_CLUSTER });
    running = clusters.run(stop.signal);
    await clusters.whenSynced(stop.signal);
    barrier = new CommitBarrier(clock, [clusters], ['fleet', 'other']);
    barrier.onCommitsComplete(() => (told += 1));
  });
  afterEach(async () => {
    stop.abort();
    await running;
  });
  const label = (value: string): Promise<KubeObject> =>
    hub.mergePatch(MANAGED_CLUSTER, C1, { metadata: { labels: { label: value } } });
  const seen = (): unknown => clusters.store.get('c1')?.metadata.labels?.['label'];
  const whole = (source: string) => barrier.handle({ kind: 'complete', source });
  const read = (source: string) => barrier.handle({ kind: 'read', source });
  const begin = () => ['fleet', 'other'].forEach((source) => whole(source));

  it('does not know at the start whether somebody died half way, and waits for every source, for a minute', () => {
    expect(barrier.isCommitPartial).toBe(true);
    whole('fleet');
    expect([barrier.isCommitPartial, told]).toEqual([true, 0]);
    whole('other');
    expect([barrier.isCommitPartial, told]).toEqual([false, 1]);
    const unread = new CommitBarrier(clock, [], ['fleet']);
    clock.jump(MINUTE_MS);
    expect(unread.isCommitPartial).toBe(false);
  });

  it('knows what was applied and deleted from the answers, without the watch', async () => {
    begin();
    read('fleet');
    barrier.applied(await label('new'));
    whole('fleet');
    expect([barrier.isCommitPartial, seen()]).toEqual([false, 'new']);
    barrier.deleted(c1, await hub.delete(MANAGED_CLUSTER, C1));
    expect([barrier.isCommitPartial, clusters.store.list()]).toEqual([false, []]);
  });

  it('knows that a finalizer keeps what was deleted', async () => {
    await hub.mergePatch(MANAGED_CLUSTER, C1, { metadata: { finalizers: ['a/b'] } });
    begin();
    barrier.deleted(c1, await hub.delete(MANAGED_CLUSTER, C1));
    expect(clusters.store.get('c1')?.metadata.deletionTimestamp).toBeDefined();
    expect(barrier.isCommitPartial).toBe(false);
  });

  it('ignores a kind of the same name in another group', async () => {
    begin();
    barrier.applied({ ...(await label('new')), apiVersion: 'example.org/v1' });
    expect([barrier.isCommitPartial, seen()]).toEqual([false, undefined]);
  });

  it('lists what was applied in another version of the API', async () => {
    begin();
    barrier.applied({ ...(await label('new')), apiVersion: 'cluster.open-cluster-management.io/v1beta9' });
    expect([barrier.isCommitPartial, seen()]).toEqual([true, undefined]);
    await clock.advance(0);
    expect([barrier.isCommitPartial, seen()]).toEqual([false, 'new']);
  });

  it('knows of no commit while another process writes, and begins again when this one takes over', () => {
    barrier.beginStandby();
    begin();
    clock.jump(60 * MINUTE_MS);
    expect([barrier.isCommitPartial, told]).toEqual([true, 0]);
    // One was read meanwhile, the other one could not be.
    read('fleet');
    barrier.takeOver();
    expect(barrier.isCommitPartial).toBe(true);
    whole('fleet');
    expect([barrier.isCommitPartial, told]).toEqual([true, 0]);
    clock.jump(MINUTE_MS);
    expect(barrier.isCommitPartial).toBe(false);
    barrier.takeOver();
    begin();
    expect([barrier.isCommitPartial, told]).toEqual([false, 1]);
  });

  it('has nothing to wait for where others fill the hub', () => {
    expect(new CommitBarrier(clock, [], []).isCommitPartial).toBe(false);
  });

  it.each([
    ['forward', 10 * MINUTE_MS],
    ['back', -10 * MINUTE_MS],
  ])('gives up after five minutes, also when a clock jumped %s', (_name, byMs) => {
    begin();
    read('fleet');
    clock.jump(4 * MINUTE_MS);
    // Another commit that is not wholly there either is no reason to wait for longer.
    read('fleet');
    expect(barrier.isCommitPartial).toBe(true);
    clock.jump(byMs);
    expect(barrier.isCommitPartial).toBe(false);
  });

  it('after a restore is compared only when the hub follows every source, also when this process takes over meanwhile', async () => {
    begin();
    barrier.beginStandby();
    barrier.hubChanged();
    // Another process follows the sources: this one does not know how far it gets.
    expect([barrier.isCommitPartial, barrier.isHubCompared]).toEqual([true, false]);
    await clock.advance(0);
    barrier.takeOver();
    whole('fleet');
    expect([barrier.isCommitPartial, barrier.isHubCompared]).toEqual([true, false]);
    whole('other');
    expect([barrier.isCommitPartial, barrier.isHubCompared]).toEqual([false, true]);
  });

  it('after a restore believes no store from before it', async () => {
    begin();
    barrier.hubChanged();
    begin();
    expect([barrier.isCommitPartial, barrier.isHubCompared]).toEqual([true, false]);
    await clock.advance(0);
    expect([barrier.isCommitPartial, barrier.isHubCompared]).toEqual([false, true]);
  });

  it.each([
    ['applied', async () => barrier.applied(await label('new')), 'new'],
    ['deleted', async () => barrier.deleted(c1, await hub.delete(MANAGED_CLUSTER, C1)), undefined],
  ])('after a restore waits for a list from after the answer of what was %s', async (_what, write, shown) => {
    const list = hub.list.bind(hub);
    let during = (): Promise<void> => Promise.resolve();
    hub.list = async (...args) => {
      const listed = await list(...args);
      await during();
      return listed;
    };
    begin();
    const partial: boolean[] = [];
    during = async () => {
      partial.push(barrier.isCommitPartial);
      during = async () => void partial.push(barrier.isCommitPartial);
      await write();
    };
    barrier.hubChanged();
    begin();
    await clock.advance(0);
    expect([partial, barrier.isCommitPartial, seen()]).toEqual([[true, true], false, shown]);
  });

  it('after two restores waits for the list after the second one', async () => {
    barrier.hubChanged();
    barrier.hubChanged();
    begin();
    expect(barrier.isCommitPartial).toBe(true);
    await clock.advance(0);
    expect([barrier.isCommitPartial, clusters.relists]).toEqual([false, 2]);
  });

  it('after a restore waits five minutes for sources that were never read, also after a take-over', async () => {
    barrier.beginStandby();
    barrier.hubChanged();
    await clock.advance(10 * MINUTE_MS);
    expect(barrier.isHubCompared).toBe(false);
    barrier.takeOver();
    await clock.advance(5 * MINUTE_MS - 1);
    expect(barrier.isHubCompared).toBe(false);
    await clock.advance(1);
    expect(barrier.isHubCompared).toBe(true);
  });

  it('resolves when the hub is at a commit, when that takes too long, and when aborted', async () => {
    const done: string[] = [];
    const wait = (name: string, signal = new AbortController().signal) =>
      barrier.whenCommitsComplete(signal).then(() => done.push(name));
    begin();
    await wait('nothing changed');
    barrier.hubChanged();
    const stop = new AbortController();
    void wait('aborted', stop.signal);
    void wait('compared');
    stop.abort();
    await clock.advance(1_000);
    expect(done).toEqual(['nothing changed', 'aborted']);
    begin();
    await clock.advance(1_000);
    expect(done).toEqual(['nothing changed', 'aborted', 'compared']);
    barrier.hubChanged();
    void wait('too long');
    await clock.advance(6 * MINUTE_MS);
    expect(done.at(-1)).toBe('too long');
  });
});
