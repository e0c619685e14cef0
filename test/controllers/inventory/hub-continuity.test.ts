import { beforeEach, describe, expect, it } from 'vitest';
import type { ReflectorPosition } from '@berth/kube/cache/reflector-options';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { HubContinuity } from '../../../src/controllers/inventory/hub-continuity.ts';
import { InputError, TransientError } from '@berth/runtime/errors';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { HubBreak, HubPosition } from '../../../src/core/sync/hub-position.ts';

describe('checking whether the hub is the one that was seen last', () => {
  let memory: Map<string, HubPosition>;
  let hub: HubPosition;
  let refusal: Error | undefined;
  let lists: number;
  let positions: ReflectorPosition[];
  let breaks: HubBreak[];
  let answers: number;
  let clock: FakeClock;
  let mayListNamespaces: boolean;
  beforeEach(() => {
    memory = new Map();
    hub = { uid: 'hub-1', resourceVersion: '100' };
    refusal = undefined;
    lists = 0;
    positions = [];
    breaks = [];
    answers = 0;
    clock = new FakeClock();
    mayListNamespaces = true;
  });

  const list = async () => {
    lists += 1;
    if (refusal !== undefined) throw refusal;
    const item: KubeObject = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'kube-system', uid: hub.uid },
    };
    return { items: [item], resourceVersion: hub.resourceVersion };
  };
  const open = () =>
    new HubContinuity({
      api: { list },
      clock,
      mayListNamespaces,
      memory,
      positions: () => positions,
      onBreak: (how) => void breaks.push(how),
      onAvailable: () => void (answers += 1),
    });

  it('finds it restored when its version is older than what a watch has reached, once', async () => {
    const continuity = open();
    expect(await continuity.check()).toBe(0);
    positions = [{ history: 0, resourceVersion: '300' }];
    hub = { ...hub, resourceVersion: '200' };
    expect(await continuity.check()).toBe(1);
    // The watch still has the version of the history before.
    expect(await continuity.check()).toBe(1);
    positions = [{ history: 1, resourceVersion: '210' }];
    hub = { ...hub, resourceVersion: '220' };
    expect(await continuity.check()).toBe(1);
    expect(breaks).toEqual(['restored']);
    expect(continuity.restoredTo).toEqual(['200']);
  });

  it('does not find it restored when a watch gets beyond the answer while that is under way', async () => {
    const continuity = open();
    await continuity.check();
    const checking = continuity.check();
    positions = [{ history: 0, resourceVersion: '101' }];
    expect(await checking).toBe(0);
    hub = { ...hub, resourceVersion: '102' };
    expect(await continuity.check()).toBe(0);
  });

  it('finds it restored after a restart by what the process before noted', async () => {
    const before = open();
    await before.check();
    positions = [{ history: 0, resourceVersion: '300' }];
    before.storePosition();
    positions = [];
    hub = { ...hub, resourceVersion: '299' };
    await open().check();
    expect(breaks).toEqual(['restored']);
    expect(open().restoredTo).toEqual(['299']);
  });

  it('finds it replaced by its uid', async () => {
    const continuity = open();
    await continuity.check();
    hub = { uid: 'hub-2', resourceVersion: '900' };
    expect(await continuity.check()).toBe(1);
    expect(breaks).toEqual(['replaced']);
    expect(continuity.restoredTo).toEqual([]);
  });

  it('asks once for all that look at the same time', async () => {
    const continuity = open();
    await Promise.all([continuity.check(), continuity.check(), continuity.check()]);
    expect(lists).toBe(1);
  });

  it('assumes nothing where the hub refuses to say, and fails where it does not answer', async () => {
    const details = { subject: 'GET' };
    const continuity = open();
    refusal = new InputError('forbidden', { ...details, code: 'kube.forbidden' });
    expect(await continuity.check()).toBe(0);
    refusal = new TransientError('no answer', { ...details, code: 'kube.network' });
    await expect(continuity.check()).rejects.toThrow('no answer');
    expect(breaks).toEqual([]);
  });

  it('looks by itself, since the watches of a real hub go on after a restore', async () => {
    const continuity = open();
    const stop = new AbortController();
    const running = continuity.run(stop.signal);
    await clock.advance(10_000);
    hub = { ...hub, resourceVersion: '50' };
    refusal = new TransientError('no answer', { subject: 'GET', code: 'kube.network' });
    await clock.advance(10_000);
    expect(breaks).toEqual([]);
    refusal = undefined;
    await clock.advance(2_000);
    expect([breaks, answers]).toEqual([['restored'], 1]);
    await clock.advance(10_000);
    expect([breaks, answers]).toEqual([['restored'], 1]);
    stop.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
  });

  it('believes a watch that finds another history, once for all that find it', async () => {
    const continuity = open();
    await continuity.check();
    hub = { ...hub, resourceVersion: '500' };
    await Promise.all([continuity.reportBreak(), continuity.reportBreak()]);
    expect(breaks).toEqual(['restored']);
    expect(continuity.restoredTo).toEqual(['500']);
    expect(await continuity.check()).toBe(1);
  });

  it('where it may not list namespaces it goes by the versions alone', async () => {
    mayListNamespaces = false;
    const continuity = open();
    await continuity.check();
    hub = { uid: 'hub-2', resourceVersion: '500' };
    expect(await continuity.check()).toBe(0);
    hub = { uid: 'hub-2', resourceVersion: '499' };
    expect(await continuity.check()).toBe(1);
    expect(breaks).toEqual(['restored']);
  });
});
