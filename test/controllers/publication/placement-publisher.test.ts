import { beforeEach, describe, expect, it } from 'vitest';
import {
  PlacementPublisher,
  type PublisherOptions,
} from '../../../src/controllers/publication/placement-publisher.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type {
  PassEnd,
  PlacementAction,
  PlacementEvent,
} from '../../../src/core/publish/machine/state/placement-event.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { whenIdle } from '@berth/test-kit/when-idle';

const KEY = 'team-a/web';
const placement: Placement = {
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'Placement',
  metadata: { namespace: 'team-a', name: 'web', uid: 'u1' },
  spec: {},
};
const page: KubeObject = {
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'PlacementDecision',
  metadata: {
    namespace: 'team-a',
    name: 'web-decision-1',
    labels: {
      'cluster.open-cluster-management.io/placement': 'web',
      'cluster.open-cluster-management.io/decision-group-index': '0',
      'cluster.open-cluster-management.io/decision-group-name': '',
    },
  },
  status: { decisions: [{ clusterName: 'c1', reason: '' }] },
};
const deleting: Placement = {
  ...placement,
  metadata: { ...placement.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
};
const result = (selected: readonly string[]): ScheduleResult =>
  ({ placement, outcome: 'scheduled', selected }) as unknown as ScheduleResult;

describe('the publisher of a placement', () => {
  /** What the state machine does after each event, in place of the real one. */
  let answers: Partial<Record<PlacementEvent['kind'], readonly PlacementAction[]>>;
  let events: PlacementEvent['kind'][];
  let handled: number;
  let newest: ScheduleResult;
  /** The result of a decision that is made during the pass. */
  let next: ScheduleResult | undefined;
  let persist: () => Promise<void>;
  let found: Placement | undefined;
  let mayBeReapplied: boolean;
  let isServed: boolean;
  let isRecalled: boolean;
  /** Pages that were deleted, and pages that endpoints serve. */
  let deleted: readonly KubeObject[];
  let final: readonly unknown[];
  let publisher: PlacementPublisher;
  const end = (how: PassEnd): readonly PlacementAction[] => [{ kind: 'end', end: how }];

  beforeEach(() => {
    [events, handled, newest, next] = [[], 0, result(['c1']), undefined];
    persist = () => Promise.resolve();
    [found, mayBeReapplied, isServed, isRecalled] = [placement, false, true, false];
    [deleted, final, answers] = [[], [], {}];
    const parts = {
      clock: new FakeClock(),
      log: new SilentLogger(),
      states: {
        step: (_key: string, event: PlacementEvent) => {
          events.push(event.kind);
          if (event.kind === 'resumed') newest = next ?? newest;
          return answers[event.kind] ?? [];
        },
      },
      facts: { placement: () => found, of: () => ({}), pages: () => [page] },
      requests: { deleteKept: (pages: readonly KubeObject[]) => Promise.resolve(void (deleted = pages)) },
      mayBeReapplied: () => mayBeReapplied,
      isServed: () => isServed,
      onFinalPages: (_key: string, pages: readonly unknown[]) => (final = pages),
      recall: () => Promise.resolve(void (isRecalled = true)),
      publishStates: { persist: () => persist() },
      resultOf: () => newest,
      onResultHandled: () => (handled += 1),
    };
    publisher = new PlacementPublisher(parts as unknown as PublisherOptions);
  });

  it('goes on with a removal only when what announces it is on the disk', async () => {
    const announced = [{ kind: 'persist', state: {} }] as unknown as readonly PlacementAction[];
    answers = { reconcile: announced, persisted: end({ kind: 'done' }) };
    let written = (): void => undefined;
    persist = () => new Promise((resolve) => (written = resolve));
    const pass = publisher.reconcile(KEY);
    await whenIdle(() => events.length);
    expect(events).toEqual(['reconcile']);
    written();
    await pass;
    expect(events).toEqual(['reconcile', 'persisted']);
  });

  it('goes on when the disk is full: the removal then counts in this process', async () => {
    const announced = [{ kind: 'persist', state: {} }] as unknown as readonly PlacementAction[];
    answers = { reconcile: announced, persisted: end({ kind: 'done' }) };
    persist = () => Promise.reject(new Error('no space left on device'));
    await publisher.reconcile(KEY);
    expect(events).toEqual(['reconcile', 'persisted']);
  });

  it.each<[string, PassEnd, boolean, number]>([
    ['was published', { kind: 'done' }, false, 1],
    ['could not be published', { kind: 'failed', error: new Error('no') }, false, 1],
    ['must be tried again', { kind: 'requeue', afterMs: 1 }, false, 0],
    // The newer one has moves of its own, which are not published yet.
    ['was published, but is not the newest any more', { kind: 'done' }, true, 0],
    ['failed, but is not the newest any more', { kind: 'failed', error: new Error('no') }, true, 0],
  ])('counts a result as handled that %s', async (_name, how, isDecidedAgain, want) => {
    answers = { reconcile: [{ kind: 'yield' }], resumed: end(how) };
    if (isDecidedAgain) next = result(['c2']);
    await publisher.reconcile(KEY).catch(() => undefined);
    expect(handled).toBe(want);
  });

  it.each<[string, { found: Placement | undefined; mayBeReapplied: boolean; isServed: boolean }, object]>([
    [
      'that left Git are deleted',
      { found: undefined, mayBeReapplied: false, isServed: true },
      { outcome: 'done', deleted: [page], final: 0, events: ['gone'] },
    ],
    [
      'stay while it is being deleted: others may still need them',
      { found: deleting, mayBeReapplied: false, isServed: true },
      { outcome: 'done', deleted: [], final: 0, events: ['gone'] },
    ],
    [
      'stay until Git applies it again',
      { found: undefined, mayBeReapplied: true, isServed: true },
      { outcome: 'requeue', deleted: [], final: 0, events: [] },
    ],
    [
      'are served until Git applies it again, also by a process that has just started',
      { found: undefined, mayBeReapplied: true, isServed: false },
      { outcome: 'requeue', deleted: [], final: 1, events: [] },
    ],
  ])('the pages of a placement that is gone %s', async (_name, given, want) => {
    ({ found, mayBeReapplied, isServed } = given);
    answers = { gone: end({ kind: 'done' }) };
    const outcome = await publisher.reconcile(KEY);
    expect({ outcome: outcome.kind, deleted, final: final.length, events }).toEqual(want);
    expect(handled).toBe(1);
  });

  it.each([
    ['of this placement', {}, true],
    [
      'of an earlier placement of the same name',
      { placement: { ...placement, metadata: { name: 'web', uid: 'u0' } } },
      false,
    ],
    ['that was skipped', { outcome: 'skipped' }, false],
  ])('what other processes published is loaded for a result %s', async (_name, over, want) => {
    newest = { ...result(['c1']), ...over } as ScheduleResult;
    answers = { reconcile: end({ kind: 'done' }) };
    await publisher.reconcile(KEY);
    expect(isRecalled).toBe(want);
  });
});
