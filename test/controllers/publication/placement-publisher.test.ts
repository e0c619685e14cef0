import { beforeEach, describe, expect, it } from 'vitest';
import {
  PlacementPublisher,
  type PublisherOptions,
} from '../../../src/controllers/publication/placement-publisher.ts';
import type { Placement } from '../../../src/core/model/kind/placement.ts';
import type { ScheduleResult } from '../../../src/core/placement/result/schedule-result.ts';
import type { PassEnd, PlacementAction } from '../../../src/core/publish/machine/state/placement-action.ts';
import type { PlacementEvent } from '../../../src/core/publish/machine/state/placement-event.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { SilentLogger } from '../../fakes/silent-logger.ts';
import { whenIdle } from '../../fakes/when-idle.ts';

const KEY = 'team-a/web';
const placement: Placement = {
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'Placement',
  metadata: { namespace: 'team-a', name: 'web', uid: 'u1' },
  spec: {},
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
  let publisher: PlacementPublisher;
  const end = (how: PassEnd): readonly PlacementAction[] => [{ kind: 'end', end: how }];

  beforeEach(() => {
    [events, handled, newest, next] = [[], 0, result(['c1']), undefined];
    persist = () => Promise.resolve();
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
      facts: { placement: () => placement, of: () => ({}) },
      publicationJournal: { persist: () => persist() },
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
});
