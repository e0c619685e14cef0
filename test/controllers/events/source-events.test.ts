import { beforeEach, describe, expect, it } from 'vitest';
import {
  type SourceEventsOptions,
  SourceEvents,
  type SourceState,
} from '../../../src/controllers/events/source-events.ts';
import type { ObjectKey } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { ConflictError, InputError, TransientError } from '@berth/runtime/errors';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const NOT_FOUND = new InputError('is not there', { code: 'kube.notfound', subject: 'Event' });
const EXISTS = new ConflictError('exists', { code: 'kube.exists', subject: 'Event' });
const HELD = { message: '3 of 4 objects would be deleted.', token: '0a1b2c3d4e5f' };
const gone = (text: string) => new TransientError(text, { code: 'git.fetch', subject: 'fleet' });

describe('events about sources', () => {
  let clock: FakeClock;
  /** The Events on the hub, by name. */
  let hub: Map<string, KubeObject>;
  let patches: object[];
  let events: SourceEvents;

  const start = (over: Partial<SourceEventsOptions> = {}): void => {
    events = new SourceEvents({
      api: {
        get: (_kind: unknown, { name }: ObjectKey) =>
          Promise.resolve({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, uid: `uid-${name}` } }),
        create: (_kind: unknown, event: KubeObject) => {
          const { name } = event.metadata;
          if (hub.has(name)) return Promise.reject(EXISTS);
          hub.set(name, event);
          return Promise.resolve(event);
        },
        mergePatch: (_kind: unknown, { name }: ObjectKey, patch: object) => {
          patches.push({ name, ...patch });
          return hub.has(name) ? Promise.resolve({} as KubeObject) : Promise.reject(NOT_FOUND);
        },
      },
      namespace: 'berth-system',
      clock,
      log: new SilentLogger(),
      ...over,
    });
  };
  beforeEach(() => {
    [clock, hub, patches] = [new FakeClock(), new Map(), []];
    start();
  });

  /** One round of the repository. */
  const look = async (over: Partial<SourceState> = {}): Promise<void> => {
    events.look([
      { name: 'fleet', lastError: undefined, failingSinceMs: undefined, outcome: undefined, ...over },
    ]);
    await clock.advance(1_000);
  };
  const fails = (text = 'no route to host'): Promise<void> =>
    look({ lastError: gone(text), failingSinceMs: clock.now() });
  const said = (): readonly string[] =>
    [...hub.values()].map(
      (event) => `${String(event['type'])} ${String(event['reason'])}: ${String(event['note'])}`,
    );

  it('say that a source fails, and that it recovered, each once', async () => {
    await look();
    const sinceMs = clock.now();
    await look({ lastError: gone('no route to host'), failingSinceMs: sinceMs });
    await look({ lastError: gone('no route to host, again'), failingSinceMs: sinceMs });
    await look();
    await look();
    expect(said()).toEqual([
      'Warning SourceFailing: The source cannot be followed, so what its last commit says stays: fleet: no route to host',
      'Normal SourceRecovered: The source can be followed again, after 2 s',
    ]);
    expect(hub.get('berth-fleet.failing-git.fetch')).toMatchObject({
      metadata: { namespace: 'berth-system' },
      regarding: {
        kind: 'ConfigMap',
        namespace: 'berth-system',
        name: 'berth-fleet',
        uid: 'uid-berth-fleet',
      },
      reportingController: 'berth',
    });
    expect(patches).toEqual([]);
  });

  it('count the same failure when it comes again', async () => {
    await look();
    await fails();
    await look();
    await fails();
    expect(hub.size).toBe(2);
    expect(patches).toMatchObject([{ name: 'berth-fleet.failing-git.fetch', series: { count: 2 } }]);
  });

  it('say another failure of a source that fails already', async () => {
    await fails();
    const other = new InputError('is no branch', { code: 'git.ref', subject: 'main' });
    await look({ lastError: other, failingSinceMs: clock.now() });
    expect([...hub.keys()]).toEqual(['berth-fleet.failing-git.fetch', 'berth-fleet.failing-git.ref']);
  });

  it('write nothing again after a restart', async () => {
    await look({ lastError: gone('x'), failingSinceMs: clock.now(), outcome: { pruneHeld: HELD } });
    const before = [...hub.values()];
    start();
    await look({ lastError: gone('x'), failingSinceMs: clock.now(), outcome: { pruneHeld: HELD } });
    expect([...hub.values()]).toEqual(before);
    expect(patches).toEqual([]);
  });

  it('say which deletions are held, and who released them', async () => {
    await look({ outcome: { pruneHeld: HELD } });
    await look({ outcome: { pruneHeld: HELD } });
    const released = { token: HELD.token, by: 'alice' };
    await look({ outcome: { pruneHeld: undefined, released } });
    await look({ outcome: { pruneHeld: undefined, released } });
    expect(said()).toEqual([
      'Warning Held: Approval code 0a1b2c3d4e5f. 3 of 4 objects would be deleted.',
      'Normal Released: alice released 0a1b2c3d4e5f',
    ]);
  });

  it('are renewed while what they say lasts', async () => {
    const stop = new AbortController();
    const running = events.run(stop.signal);
    const failing = { lastError: gone('x'), failingSinceMs: clock.now() };
    await look(failing);
    await look({ ...failing, outcome: { pruneHeld: HELD } });
    await clock.advance(1_800_000);
    expect(patches).toMatchObject([{ name: 'berth-fleet.failing-git.fetch', series: { count: 2 } }]);
    await clock.advance(1_800_000);
    expect(patches.map((patch) => (patch as { name: string }).name)).toContain(
      `berth-fleet.held-${HELD.token}`,
    );
    await look();
    const count = patches.length;
    await clock.advance(3_600_000);
    expect(patches).toHaveLength(count);
    stop.abort();
    await running;
  });

  it('come from the leader alone, which says what it finds when it takes over', async () => {
    const leadership = { isHeld: false };
    start({ leadership });
    await fails();
    expect(hub.size).toBe(0);
    leadership.isHeld = true;
    await fails();
    expect(hub.size).toBe(1);
  });
});
