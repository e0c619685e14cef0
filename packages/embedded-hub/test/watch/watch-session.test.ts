import { beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/json-value.ts';
import type { ResourceRef } from '../../src/schema/resource-definition.ts';
import { createScheme } from '../../src/scheme/create-scheme.ts';
import type { StoreEvent } from '../../src/store/subscriptions.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { StoredObject } from '../../src/store/stored-object.ts';
import type { WatchView } from '../../src/watch/watch-lines.ts';
import { type WatchPlan, WatchSession } from '../../src/watch/watch-objects.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { whenIdle } from '@berth/test-kit/when-idle';

const ref = createScheme().resource('', 'v1', 'configmaps') as ResourceRef;
const MIB = 1024 * 1024;

function entry(name: string, rv: number, data = ''): StoredObject {
  const metadata = { name, namespace: 'default', resourceVersion: String(rv) };
  const object: JsonObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: data } };
  return StoredObject.of({ namespace: 'default', name }, rv, object);
}
const added = (rv: number): StoreEvent => ({
  rv,
  type: 'added',
  entry: entry(`c${rv}`, rv),
  previous: undefined,
});

/** A client that reads when the test says so. */
class FakeSink {
  readonly lines: string[] = [];
  isEnded = false;
  isDestroyed = false;
  unreadBytes = 0;
  drainedCalls = 0;
  drain: () => void = () => undefined;
  #closed: () => void = () => undefined;

  write(text: string | Buffer): number {
    this.lines.push(
      ...text
        .toString()
        .split('\n')
        .filter((line) => line !== ''),
    );
    return this.unreadBytes;
  }
  drained(): Promise<void> {
    this.drainedCalls += 1;
    return new Promise((resolve) => (this.drain = resolve));
  }
  end(): void {
    this.isEnded = true;
  }
  destroy(): void {
    this.isDestroyed = true;
  }
  onClose(callback: () => void): void {
    this.#closed = callback;
  }
  disconnect(): void {
    this.#closed();
  }
  /** `ADDED c1`, `BOOKMARK 7`, `ERROR 410`. */
  get seen(): readonly string[] {
    return this.lines.map((line) => {
      const { type, object } = JSON.parse(line) as {
        type: string;
        object: {
          code?: number;
          rows?: { object: JsonObject }[];
          metadata: { name?: string; resourceVersion: string };
        };
      };
      const { name, resourceVersion } = object.metadata;
      return `${type} ${object.code ?? name ?? resourceVersion}`;
    });
  }
}

describe('a watch session', () => {
  let clock: FakeClock;
  let sink: FakeSink;
  let store: { rv: number; durableRv: number; durable: (rv: number) => Promise<void> };
  let emit: (...events: readonly StoreEvent[]) => void;
  let subscribers: number;
  beforeEach(() => {
    clock = new FakeClock();
    sink = new FakeSink();
    store = { rv: 10, durableRv: 10, durable: () => Promise.resolve() };
    subscribers = 0;
  });

  const settled = () => whenIdle(() => sink.lines.length);

  async function start(over: Partial<WatchPlan> = {}, view: Partial<WatchView> = {}): Promise<void> {
    const subscribe = (
      _storage: string,
      _scope: unknown,
      listener: (events: readonly StoreEvent[]) => void,
    ) => {
      subscribers += 1;
      emit = (...events) => {
        store.rv = store.durableRv = Math.max(store.rv, ...events.map(({ rv }) => rv));
        listener(events);
      };
      return () => (subscribers -= 1);
    };
    const plan: WatchPlan = {
      storage: 'configmaps',
      scope: { namespace: 'default', name: undefined },
      view: {
        ref,
        form: { as: 'object', yaml: false },
        includeObject: 'Metadata',
        selects: () => true,
        identity: 'a',
        nowMs: () => clock.now(),
        ...view,
      },
      bookmarks: true,
      timeoutMs: 600_000,
      from: { kind: 'version', rv: 10, missed: [] },
      ...over,
    };
    const deps = { store: { ...store, subscribe } as unknown as ObjectStore, clock };
    Object.defineProperties(deps.store, {
      rv: { get: () => store.rv },
      durableRv: { get: () => store.durableRv },
    });
    new WatchSession(plan, sink, deps).start();
    await settled();
  }

  /** A conversion webhook that answers when the test says so, in its order. */
  function webhook() {
    const calls: { rvs: readonly number[]; answer: (error?: Error) => void }[] = [];
    const prepare: NonNullable<WatchView['prepare']> = (changes) =>
      changes.length === 0
        ? Promise.resolve()
        : new Promise((resolve, reject) => {
            const answer = (error?: Error): void => (error === undefined ? resolve() : reject(error));
            calls.push({ rvs: changes.map((change) => change.entry.rv), answer });
          });
    return { calls, prepare };
  }

  describe('with a conversion webhook', () => {
    it('keeps the order of events: the next ones wait for the answer about the ones before', async () => {
      const { calls, prepare } = webhook();
      await start({}, { prepare });
      emit(added(11), added(12));
      emit(added(13));
      await settled();
      expect(calls.map(({ rvs }) => rvs)).toEqual([[11, 12]]);
      calls[0]?.answer();
      await settled();
      expect(sink.seen).toEqual(['ADDED c11', 'ADDED c12']);
      expect(calls[1]?.rvs).toEqual([13]);
      calls[1]?.answer();
      await settled();
      expect(sink.seen.at(-1)).toBe('ADDED c13');
      // When nothing waits, the next ones are asked about at once.
      emit(added(14));
      await settled();
      expect(calls[2]?.rvs).toEqual([14]);
    });

    it('sends no bookmark while events wait: the client would skip them', async () => {
      const { calls, prepare } = webhook();
      await start({}, { prepare });
      emit(added(11));
      emit(added(12));
      await settled();
      await clock.advance(60_000);
      calls[0]?.answer();
      await settled();
      await clock.advance(60_000);
      expect(sink.seen).toEqual(['ADDED c11']);
      calls[1]?.answer();
      await settled();
      await clock.advance(60_000);
      expect(sink.seen).toEqual(['ADDED c11', 'ADDED c12', 'BOOKMARK 12']);
    });

    it('ends when too many events wait, but not when as many were answered', async () => {
      const { calls, prepare } = webhook();
      const many = (from: number) => Array.from({ length: 1_500 }, (_, at) => added(from + at));
      await start({}, { prepare });
      emit(...many(11));
      await settled();
      calls[0]?.answer();
      await settled();
      emit(...many(2_000));
      await settled();
      expect(sink.isEnded).toBe(false);
      emit(...many(4_000));
      expect(sink.seen.at(-1)).toBe('ERROR 410');
      expect(sink.isEnded).toBe(true);
    });

    it('ends with an error when the webhook fails, and asks and writes nothing more', async () => {
      const { calls, prepare } = webhook();
      await start({}, { prepare });
      emit(added(11));
      emit(added(12));
      await settled();
      calls[0]?.answer(new Error('the webhook is gone'));
      await settled();
      expect(sink.seen).toEqual(['ERROR 500']);
      expect([sink.isEnded, calls.length, subscribers]).toEqual([true, 1, 0]);
    });

    it('asks nothing more for a client that has left', async () => {
      const { calls, prepare } = webhook();
      await start({}, { prepare });
      emit(added(11));
      emit(added(12));
      await settled();
      sink.disconnect();
      calls[0]?.answer();
      await settled();
      expect([sink.lines.length, calls.length]).toEqual([0, 1]);
    });

    it('selects objects of the initial state after their conversion', async () => {
      const entries = [entry('a', 9), entry('b', 10)];
      const prepare = () => Promise.resolve();
      const selects = ({ name }: StoredObject): boolean => name === 'b';
      await start({ from: { kind: 'state', rv: 10, entries, markEnd: false } }, { prepare, selects });
      expect(sink.seen).toEqual(['ADDED b']);
    });
  });

  describe('from the initial state', () => {
    const state = (count: number, data = ''): WatchPlan['from'] => ({
      kind: 'state',
      rv: 10,
      entries: Array.from({ length: count }, (_, at) => entry(`e${at}`, 10, data)),
      markEnd: true,
    });

    it('writes it, its end, and then only what happened after it', async () => {
      let durable = (): void => undefined;
      store.durable = () => new Promise((resolve) => (durable = resolve));
      await start({ from: state(2) });
      // The last change of the state is delivered when it is durable.
      emit(added(10), added(11));
      await settled();
      expect(sink.seen).toEqual([]);
      durable();
      await settled();
      expect(sink.seen).toEqual(['ADDED e0', 'ADDED e1', 'BOOKMARK 10', 'ADDED c11']);
    });

    it('waits for a client that reads slowly, and stops when it leaves', async () => {
      sink.unreadBytes = 5 * MIB;
      await start({ from: state(3, 'x'.repeat(300 * 1024)) });
      expect([sink.seen, sink.drainedCalls]).toEqual([['ADDED e0'], 1]);
      sink.drain();
      await settled();
      expect(sink.seen).toEqual(['ADDED e0', 'ADDED e1']);
      sink.disconnect();
      sink.drain();
      await settled();
      expect(sink.seen).toEqual(['ADDED e0', 'ADDED e1']);
    });

    it('does not wait for a client that reads fast enough', async () => {
      sink.unreadBytes = 4 * MIB;
      await start({ from: state(450) });
      expect([sink.drainedCalls, sink.lines.length]).toEqual([0, 451]);
    });
  });

  it.each([
    { unread: 8 * MIB, isDropped: false },
    { unread: 8 * MIB + 1, isDropped: true },
  ])('with $unread unread bytes the client is dropped: $isDropped', async ({ unread, isDropped }) => {
    await start();
    sink.unreadBytes = unread;
    emit(added(11));
    expect([sink.isDestroyed, subscribers]).toEqual([isDropped, isDropped ? 0 : 1]);
    emit(added(12));
    expect(sink.lines).toHaveLength(isDropped ? 1 : 2);
  });

  it('sends a bookmark each minute, and one at its end', async () => {
    await start({ timeoutMs: 150_000 });
    emit(added(11));
    await clock.advance(60_000);
    await clock.advance(60_000);
    emit(added(12));
    await clock.advance(30_000);
    expect(sink.seen).toEqual(['ADDED c11', 'BOOKMARK 11', 'BOOKMARK 11', 'ADDED c12', 'BOOKMARK 12']);
    expect([sink.isEnded, subscribers]).toEqual([true, 0]);
    await clock.advance(600_000);
    expect(sink.lines).toHaveLength(5);
  });

  it('sends none that the client did not ask for', async () => {
    await start({ timeoutMs: 150_000, bookmarks: false });
    await clock.advance(150_000);
    expect([sink.seen, sink.isEnded]).toEqual([[], true]);
  });

  it('from a version that the store has not reached sends no bookmark and nothing up to it', async () => {
    await start({ from: { kind: 'version', rv: 13, missed: [] } });
    emit(added(11));
    await clock.advance(60_000);
    expect(sink.seen).toEqual([]);
    emit(added(12), added(13));
    await clock.advance(60_000);
    expect(sink.seen).toEqual(['BOOKMARK 13']);
    emit(added(14));
    expect(sink.seen).toEqual(['BOOKMARK 13', 'ADDED c14']);
  });

  it('replays what the client has missed, before what happens now', async () => {
    await start({ from: { kind: 'version', rv: 10, missed: [added(9), added(10)] } });
    emit(added(11));
    expect(sink.seen).toEqual(['ADDED c9', 'ADDED c10', 'ADDED c11']);
  });

  it('as a table describes its columns once', async () => {
    await start({}, { form: { as: 'table', apiVersion: 'meta.k8s.io/v1' }, selects: ({ rv }) => rv !== 11 });
    emit(added(11));
    emit(added(12));
    emit(added(13));
    const columns = sink.lines.map(
      (line) =>
        (JSON.parse(line) as { object: { columnDefinitions: unknown } }).object.columnDefinitions !== null,
    );
    expect(columns).toEqual([true, false]);
  });
});
