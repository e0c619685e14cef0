import { beforeEach, describe, expect, it } from 'vitest';
import { ObjectStore } from '@berth/kube/cache/object-store';
import { CommitBarrier } from '../../../../src/controllers/sources/progress/commit-barrier.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { cluster } from '../../../app/serve/fleet-fixture.ts';

const MINUTE_MS = 60_000;

const at = (resourceVersion: string, over: object = {}): KubeObject => {
  const object = cluster('c1');
  return { ...object, metadata: { ...object.metadata, uid: 'u', resourceVersion, ...over } };
};

function deferred(): [Promise<void>, () => void] {
  let end = (): void => undefined;
  const promise = new Promise<void>((resolve) => (end = resolve));
  return [promise, () => end()];
}

describe('CommitBarrier', () => {
  let clock: FakeClock;
  let store: ObjectStore;
  let barrier: CommitBarrier;
  let told: number;
  beforeEach(() => {
    [clock, store, told] = [new FakeClock(), new ObjectStore(), 0];
    barrier = new CommitBarrier(clock, new Map([['ManagedCluster', store]]), ['fleet', 'other']);
    barrier.onCommitsComplete(() => (told += 1));
  });
  const whole = (source: string) => barrier.handle({ kind: 'complete', source });
  const read = (source: string) => barrier.handle({ kind: 'read', source });
  const begin = () => ['fleet', 'other'].forEach((source) => whole(source));

  it('does not know at the start whether somebody died half way, and waits for every source, for a minute', () => {
    expect(barrier.isCommitPartial).toBe(true);
    whole('fleet');
    expect([barrier.isCommitPartial, told]).toEqual([true, 0]);
    whole('other');
    expect([barrier.isCommitPartial, told]).toEqual([false, 1]);
    const unread = new CommitBarrier(clock, new Map(), ['fleet']);
    clock.jump(MINUTE_MS);
    expect(unread.isCommitPartial).toBe(false);
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
    expect(new CommitBarrier(clock, new Map(), []).isCommitPartial).toBe(false);
  });

  it.each([
    ['applied', () => barrier.applied(at('9')), () => store.put(at('9'))],
    ['applied, and written again by somebody', () => barrier.applied(at('9')), () => store.put(at('10'))],
    ['deleted', () => barrier.deleted(at('7')), () => store.remove('c1')],
    [
      'deleted, with a finalizer',
      () => barrier.deleted(at('7')),
      () => store.put(at('9', { deletionTimestamp: 't' })),
    ],
    ['deleted, and made again', () => barrier.deleted(at('7')), () => store.put(at('9', { uid: 'v' }))],
  ])('is over when the watch shows what was %s', (_what, write, show) => {
    store.put(at('7'));
    begin();
    read('fleet');
    write();
    whole('fleet');
    expect([barrier.isCommitPartial, told]).toEqual([true, 1]);
    store.put(at('8'));
    expect(barrier.isCommitPartial).toBe(true);
    show();
    expect([barrier.isCommitPartial, told]).toEqual([false, 2]);
  });

  it('does not wait for a write that the watch has shown before it was answered', () => {
    begin();
    store.put(at('9'));
    barrier.applied(at('9'));
    expect(barrier.isCommitPartial).toBe(false);
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

  it('after a restore is compared only when the hub follows every source, also when this process takes over meanwhile', () => {
    begin();
    barrier.beginStandby();
    barrier.hubChanged();
    // Another process follows the sources: this one does not know how far it gets.
    expect([barrier.isCommitPartial, barrier.isHubCompared]).toEqual([true, false]);
    barrier.takeOver();
    whole('fleet');
    expect([barrier.isCommitPartial, barrier.isHubCompared]).toEqual([true, false]);
    whole('other');
    expect([barrier.isCommitPartial, barrier.isHubCompared]).toEqual([false, true]);
  });

  it.each([
    ['shows that the cluster is back, until the watch shows its deletion', true],
    ['shows no cluster any more', false],
  ])('after a restore believes no store from before it, and then a list that %s', async (_name, isListed) => {
    // Deleted before the restore: the stale store does not show it.
    const [listed, setListed] = deferred();
    begin();
    barrier.hubChanged(new Map([['ManagedCluster', listed]]));
    barrier.deleted(at('5'));
    begin();
    expect([barrier.isCommitPartial, barrier.isHubCompared]).toEqual([true, false]);
    if (isListed) store.put(at('5'));
    setListed();
    await listed;
    expect(barrier.isCommitPartial).toBe(isListed);
    store.remove('c1');
    expect([barrier.isCommitPartial, barrier.isHubCompared]).toEqual([false, true]);
  });

  it('after a restore takes the version of an object from before it for no proof', async () => {
    const [listed, setListed] = deferred();
    store.put(at('90'));
    begin();
    barrier.hubChanged(new Map([['ManagedCluster', listed]]));
    barrier.applied(at('7'));
    begin();
    store.put(at('91'));
    store.replace([at('6')], { isSameHistory: false });
    setListed();
    await listed;
    expect(barrier.isCommitPartial).toBe(true);
    store.put(at('7'));
    expect(barrier.isCommitPartial).toBe(false);
  });

  it('after two restores waits for the list after the second one', async () => {
    const [first, endFirst] = deferred();
    const [second, endSecond] = deferred();
    barrier.hubChanged(new Map([['ManagedCluster', first]]));
    barrier.hubChanged(new Map([['ManagedCluster', second]]));
    begin();
    endFirst();
    await first;
    expect(barrier.isCommitPartial).toBe(true);
    endSecond();
    await second;
    expect(barrier.isCommitPartial).toBe(false);
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
