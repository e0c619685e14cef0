import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { errorForStatus } from '../../src/transport/kube-errors.ts';
import { Reflector } from '../../src/cache/reflector.ts';
import { TransientError } from '@berth/runtime/errors';
import { MANAGED_CLUSTER } from '../../src/model/kinds.ts';
import type { KubeObject } from '../../src/model/object-meta.ts';
import type { WatchEvent, WatchOptions } from '../../src/model/kube-api.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { RefusingKubeApi } from '@berth/test-kit/refusing-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const cluster = (name: string): KubeObject => ({
  apiVersion: 'cluster.open-cluster-management.io/v1',
  kind: 'ManagedCluster',
  metadata: { name },
});

const AWAY = { code: 'kube.network', subject: 'test' };

describe('Reflector', () => {
  let api: FakeKubeApi;
  let clock: FakeClock;
  let stop: AbortController;
  let running: Promise<void>;

  beforeEach(() => {
    api = new FakeKubeApi();
    clock = new FakeClock();
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
  });

  function start(over: object = {}): Reflector {
    const reflector = new Reflector({
      api,
      kind: MANAGED_CLUSTER,
      clock,
      random: () => 0.5,
      log: new SilentLogger(),
      ...over,
    });
    running = reflector.run(stop.signal);
    return reflector;
  }
  const names = (reflector: Reflector) =>
    reflector.store
      .list()
      .map((object) => object.metadata.name)
      .sort();

  it('lists, then follows', async () => {
    await api.create(MANAGED_CLUSTER, cluster('a'));
    const reflector = start();
    expect(reflector.stalenessMs()).toBe(Infinity);
    await reflector.whenSynced(stop.signal);
    expect(names(reflector)).toEqual(['a']);
    await api.create(MANAGED_CLUSTER, cluster('b'));
    await api.delete(MANAGED_CLUSTER, { namespace: '', name: 'a' });
    await clock.advance(0);
    expect(names(reflector)).toEqual(['b']);
  });

  it('shows an own write at once, but not one that it has seen deleted since', async () => {
    await api.create(MANAGED_CLUSTER, cluster('a'));
    const reflector = start();
    await reflector.whenSynced(stop.signal);
    const created = await api.create(MANAGED_CLUSTER, cluster('b'));
    reflector.putWritten(created);
    expect(names(reflector)).toEqual(['a', 'b']);
    await api.delete(MANAGED_CLUSTER, { namespace: '', name: 'b' });
    await clock.advance(0);
    expect(names(reflector)).toEqual(['a']);
    // The response was late: the watch has shown the deletion.
    reflector.putWritten(created);
    expect(names(reflector)).toEqual(['a']);
  });

  it('ignores the response to a write whose object was deleted before the last list', async () => {
    const created = await api.create(MANAGED_CLUSTER, cluster('b'));
    await api.delete(MANAGED_CLUSTER, { namespace: '', name: 'b' });
    const reflector = start();
    await reflector.whenSynced(stop.signal);
    reflector.putWritten(created);
    expect(names(reflector)).toEqual([]);
  });

  it('tells the version of each list when the store shows it', async () => {
    await api.create(MANAGED_CLUSTER, cluster('a'));
    const reflector = start();
    const told: (readonly string[])[] = [];
    const end = reflector.store.onListed((version) => told.push([version, ...names(reflector)]));
    await reflector.whenSynced(stop.signal);
    expect(told).toEqual([[reflector.position.resourceVersion, 'a']]);
    end();
    await reflector.relist(stop.signal);
    expect(told).toHaveLength(1);
  });

  it('lists again when told to, whatever its watch has shown, and follows from there', async () => {
    const reflector = start();
    await reflector.whenSynced(stop.signal);
    // Events wait for the microtasks of the watch: the store does not show the object yet.
    await api.create(MANAGED_CLUSTER, cluster('a'));
    await reflector.relist(stop.signal);
    expect([names(reflector), reflector.relists]).toEqual([['a'], 2]);
    await api.create(MANAGED_CLUSTER, cluster('b'));
    await clock.advance(0);
    expect([names(reflector), reflector.relists]).toEqual([['a', 'b'], 2]);
  });

  it('lists once more when told to while it lists, since that list may be older', async () => {
    const reflector = start();
    while (!api.requests.includes('LIST managedclusters')) await Promise.resolve();
    await reflector.relist(stop.signal);
    expect(reflector.relists).toBe(2);
  });

  it('does not wait for the next try after a failure', async () => {
    const refusing = new RefusingKubeApi(api, 'kube.notfound');
    const reflector = start({ api: refusing });
    await reflector.whenSynced(stop.signal);
    refusing.refused.add('watch managedclusters');
    api.expire();
    while (reflector.failure?.verb !== 'watch') await clock.advance(100);
    const before = reflector.relists;
    // Time stands still from here on.
    await reflector.relist(stop.signal);
    expect(reflector.relists).toBe(before + 1);
  });

  it('does not wait for a list that is refused', async () => {
    const refusing = new RefusingKubeApi(api, 'kube.forbidden');
    const reflector = start({ api: refusing });
    await reflector.whenSynced(stop.signal);
    refusing.refused.add('list managedclusters');
    const relisted = reflector.relist(stop.signal);
    await clock.advance(1_000);
    await relisted;
    expect([reflector.relists, reflector.failure?.verb]).toEqual([1, 'list']);
  });

  it('ends when it is stopped while it lists', async () => {
    start();
    stop.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
  });

  it('lists again when its position expired, and tells what went in the gap', async () => {
    await api.create(MANAGED_CLUSTER, cluster('a'));
    const reflector = start();
    await clock.advance(0);
    const changes: string[] = [];
    reflector.store.onChange(({ key, after }) => changes.push(`${after === undefined ? '-' : '+'}${key}`));
    api.expire();
    await api.delete(MANAGED_CLUSTER, { namespace: '', name: 'a' });
    await api.create(MANAGED_CLUSTER, cluster('b'));
    await clock.advance(10_000);
    expect(changes).toEqual(['+b', '-a']);
    expect(reflector.relists).toBe(2);
  });

  const notReached = () => {
    const watch = api.watch.bind(api);
    let restored = false;
    api.watch = async function* (kind, options: WatchOptions): AsyncGenerator<WatchEvent> {
      if (restored) {
        restored = false;
        throw errorForStatus(
          504,
          {
            kind: 'Status',
            reason: 'Timeout',
            details: { retryAfterSeconds: 1, causes: [{ reason: 'ResourceVersionTooLarge' }] },
          },
          { method: 'GET', path: '/x' },
        );
      }
      for await (const event of watch(kind, options)) {
        yield event;
        if (restored) return;
      }
    };
    return () => (restored = true);
  };

  it('lists again when the server has never reached its position: it was restored from a backup', async () => {
    const restore = notReached();
    const reflector = start();
    await clock.advance(0);
    await api.create(MANAGED_CLUSTER, cluster('lost'));
    await clock.advance(0);
    expect(names(reflector)).toEqual(['lost']);
    restore();
    await api.create(MANAGED_CLUSTER, cluster('last'));
    await api.delete(MANAGED_CLUSTER, { namespace: '', name: 'lost' });
    await clock.advance(10_000);
    // The first list, the one that shows the other history, and one from after everybody knew of it.
    expect(reflector.relists).toBe(3);
    expect(names(reflector)).toEqual(['last']);
  });

  it('shows nothing of a restored server before everybody knows of it', async () => {
    const restore = notReached();
    const shown: (readonly string[])[] = [];
    const reflector = start({
      onOtherHistory: () => {
        shown.push(names(reflector));
        // The server that has just come back goes away once more.
        return shown.length === 1 ? Promise.reject(new TransientError('away', AWAY)) : Promise.resolve();
      },
    });
    await clock.advance(0);
    await api.create(MANAGED_CLUSTER, cluster('lost'));
    await clock.advance(0);
    restore();
    await api.create(MANAGED_CLUSTER, cluster('last'));
    await api.delete(MANAGED_CLUSTER, { namespace: '', name: 'lost' });
    await clock.advance(30_000);
    // The deletion is what the watch did not show.
    const before = ['last', 'lost'];
    expect(shown).toEqual([before, before]);
    expect(names(reflector)).toEqual(['last']);
  });

  it('lists again when the history of the server is another one, although it takes the position', async () => {
    let history = 0;
    let ends = false;
    const watch = api.watch.bind(api);
    api.watch = async function* (kind, options: WatchOptions): AsyncGenerator<WatchEvent> {
      for await (const event of watch(kind, options)) {
        yield event;
        if (ends) return;
      }
    };
    const reflector = start({ historyOf: async () => history });
    await clock.advance(0);
    await api.create(MANAGED_CLUSTER, cluster('a'));
    await clock.advance(0);
    const { resourceVersion } = reflector.position;
    expect(reflector.position).toEqual({
      history: 0,
      resourceVersion: expect.stringMatching(/^\d+$/) as string,
    });
    ends = true;
    await api.create(MANAGED_CLUSTER, cluster('b'));
    ends = false;
    await clock.advance(10_000);
    expect(reflector.relists).toBe(1);
    history = 1;
    ends = true;
    const list = api.list.bind(api);
    api.list = async (...args) => {
      const listed = await list(...args);
      // A restored server gave the same version to another change.
      return {
        ...listed,
        items: listed.items.map((item) => ({ ...item, spec: { hubAcceptsClient: true } })),
      };
    };
    await api.create(MANAGED_CLUSTER, cluster('c'));
    await clock.advance(10_000);
    expect(reflector.relists).toBe(2);
    expect(reflector.store.get('a')?.['spec']).toEqual({ hubAcceptsClient: true });
    expect(names(reflector)).toEqual(['a', 'b', 'c']);
    expect(reflector.position.history).toBe(1);
    expect(Number(reflector.position.resourceVersion)).toBeGreaterThan(Number(resourceVersion));
  });

  it('takes a list under way for one of the old history, when the history changes meanwhile', async () => {
    let history = 0;
    await api.create(MANAGED_CLUSTER, cluster('a'));
    const list = api.list.bind(api);
    let whileListed = (): void => undefined;
    api.list = async (...args) => {
      const listed = await list(...args);
      whileListed();
      // The other server gave the same version to another object of this name.
      const spec = { hubAcceptsClient: history === 1 };
      return { ...listed, items: listed.items.map((item) => ({ ...item, spec })) };
    };
    const reflector = start({ historyOf: async () => history });
    await clock.advance(0);
    expect(reflector.store.get('a')?.['spec']).toEqual({ hubAcceptsClient: false });
    whileListed = () => {
      whileListed = () => undefined;
      queueMicrotask(() => {
        history = 1;
        reflector.restart();
      });
    };
    reflector.restart();
    await clock.advance(0);
    expect(reflector.position.history).toBe(1);
    expect(reflector.store.get('a')?.['spec']).toEqual({ hubAcceptsClient: true });
  });

  describe('after a restore of which the watch says nothing', () => {
    let told: number;
    let cut: () => void;
    beforeEach(async () => {
      told = 0;
      const watch = api.watch.bind(api);
      api.watch = (kind, options: WatchOptions) => {
        const stream = new AbortController();
        options.signal.addEventListener('abort', () => stream.abort(), { once: true });
        cut = () => stream.abort();
        return watch(kind, { ...options, signal: stream.signal });
      };
      for (const name of ['a', 'b']) await api.create(MANAGED_CLUSTER, cluster(name));
    });
    const follow = async (): Promise<Reflector> => {
      const reflector = start({ onOtherHistory: async () => void (told += 1) });
      await reflector.whenSynced(stop.signal);
      return reflector;
    };
    /** As a server that went back, and has passed the position of the watch since. */
    const showLists = (change: (items: KubeObject[], version: string) => [KubeObject[], string]): void => {
      const list = api.list.bind(api);
      api.list = async (kind, options) => {
        const { items, resourceVersion } = await list(kind);
        const [shown, version] = change([...items], resourceVersion);
        const name = options?.fieldSelector?.replace('metadata.name=', '');
        return {
          items: shown.filter(({ metadata }) => name === undefined || metadata.name === name),
          resourceVersion: version,
        };
      };
    };

    it.each<[string, (items: KubeObject[], version: string) => [KubeObject[], string]]>([
      ['its newest object is gone', ([a], version) => [[a as KubeObject], version]],
      [
        'its newest object went back',
        ([a, b], version) => [
          [a as KubeObject, { ...b, metadata: { ...b?.metadata, resourceVersion: '7' } } as KubeObject],
          version,
        ],
      ],
      ['the server has not reached its position', (items) => [items, '50']],
    ])('lists again when %s', async (_name, change) => {
      const reflector = await follow();
      cut();
      showLists(change);
      await clock.advance(20_000);
      expect([reflector.relists, told]).toEqual([2, 1]);
      expect(reflector.store.list()).toHaveLength(
        change(reflector.store.list() as KubeObject[], '1')[0].length,
      );
    });

    it('goes on when the watch shows what became of its newest object', async () => {
      const reflector = await follow();
      cut();
      await api.delete(MANAGED_CLUSTER, { namespace: '', name: 'b' });
      await clock.advance(20_000);
      expect([reflector.relists, told, names(reflector)]).toEqual([1, 0, ['a']]);
    });

    it('asks once after each watch that was opened again, and not while one stays open', async () => {
      const reflector = await follow();
      await clock.advance(60_000);
      const lists = () => api.requests.filter((request) => request.startsWith('LIST managedclusters')).length;
      expect(lists()).toBe(1);
      cut();
      await clock.advance(60_000);
      expect([lists(), reflector.relists, told]).toEqual([2, 1, 0]);
    });

    it('lists again when a bookmark goes back', async () => {
      api.watch = async function* (_kind, options: WatchOptions): AsyncGenerator<WatchEvent> {
        options.onOpen?.();
        if (told === 0) yield { type: 'bookmark', resourceVersion: '5' };
        await new Promise((resolve) => options.signal.addEventListener('abort', resolve));
      };
      const reflector = await follow();
      await clock.advance(1_000);
      expect([reflector.relists, told]).toEqual([2, 1]);
    });
  });

  it('says once that it fails, and nothing louder than debug of the network', async () => {
    const log = new SilentLogger();
    const failures = [
      new TransientError('cut', { code: 'kube.network', subject: 'x' }),
      ...[1, 2, 3].map(() => new TransientError('broken', { code: 'kube.internalerror', subject: 'x' })),
    ];
    const list = api.list.bind(api);
    api.list = async (kind, options) => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      return list(kind, options);
    };
    const reflector = start({ log });
    await clock.advance(60_000);
    expect(reflector.synced).toBe(true);
    expect(log.entries.map(({ level }) => level)).toEqual(['debug', 'warn', 'debug', 'debug']);
  });

  it('opens a silent stream again from where it was, without a list', async () => {
    let mute = true;
    const watch = api.watch.bind(api);
    api.watch = async function* (kind, options: WatchOptions): AsyncGenerator<WatchEvent> {
      options.onOpen?.();
      if (mute) await new Promise((resolve) => options.signal.addEventListener('abort', resolve));
      else yield* watch(kind, options);
    };
    const reflector = start({ silenceLimitMs: 60_000 });
    await clock.advance(0);
    await api.create(MANAGED_CLUSTER, cluster('missed'));
    mute = false;
    await clock.advance(59_000);
    expect(names(reflector)).toEqual([]);
    expect(reflector.stalenessMs()).toBe(59_000);
    await clock.advance(2_000);
    expect(names(reflector)).toEqual(['missed']);
    expect(reflector.relists).toBe(1);
  });

  it('stays fresh without bookmarks and events, as of a server without a watch cache, and says nothing of it', async () => {
    api.watch = async function* (_kind, options: WatchOptions): AsyncGenerator<WatchEvent> {
      options.onOpen?.();
      await new Promise((resolve) => options.signal.addEventListener('abort', resolve));
    };
    await api.create(MANAGED_CLUSTER, cluster('quiet'));
    const log = new SilentLogger();
    const reflector = start({ log });
    for (let minute = 0; minute < 20; minute++) {
      await clock.advance(60_000);
      // Berth is not ready when a kind was not confirmed for five minutes.
      expect(reflector.stalenessMs()).toBeLessThanOrEqual(150_000);
    }
    expect([reflector.relists, reflector.failure]).toEqual([1, undefined]);
    expect(log.entries.filter(({ level }) => level !== 'debug')).toEqual([]);
  });

  it('backs off while the server fails, keeps what it knows, and recovers', async () => {
    await api.create(MANAGED_CLUSTER, cluster('a'));
    const errors: unknown[] = [];
    const reflector = start({ onError: (error: unknown) => errors.push(error) });
    await clock.advance(0);
    const list = api.list.bind(api);
    let failures = 0;
    api.list = async () => {
      failures += 1;
      throw new TransientError('down', { code: 'kube.network', subject: 'test' });
    };
    api.expire();
    await clock.advance(60_000);
    expect(names(reflector)).toEqual(['a']);
    expect(reflector.stalenessMs()).toBeGreaterThanOrEqual(60_000);
    expect(failures).toBeGreaterThan(4);
    expect(failures).toBeLessThan(12);
    expect(errors).toHaveLength(failures);
    api.list = list;
    await api.create(MANAGED_CLUSTER, cluster('b'));
    await clock.advance(60_000);
    expect(names(reflector)).toEqual(['a', 'b']);
  });

  it('tries again at once when the server answers again, and soon if it refuses then', async () => {
    const refusing = new RefusingKubeApi(api, 'kube.forbidden');
    refusing.refused.add('list managedclusters');
    let recover = (): void => undefined;
    const onRecovery = (listener: () => void) => {
      recover = listener;
      return () => (recover = () => undefined);
    };
    const reflector = start({ api: Object.assign(refusing, { onRecovery }) });
    // Its pauses have grown to half a minute.
    await clock.advance(120_000);
    recover();
    await clock.advance(100);
    refusing.refused.clear();
    await clock.advance(1_000);
    expect(reflector.synced).toBe(true);
  });

  it('does not hammer a server that ends every watch at once', async () => {
    let opened = 0;
    api.watch = async function* (): AsyncGenerator<WatchEvent> {
      opened += 1;
    };
    start();
    await clock.advance(60_000);
    expect(opened).toBeLessThan(12);
  });

  it('waits as long as the server asks', async () => {
    let calls = 0;
    api.list = async () => {
      calls += 1;
      throw new TransientError('busy', {
        code: 'kube.toomanyrequests',
        subject: 'test',
        retryAfterMs: 45_000,
      });
    };
    start();
    await clock.advance(44_000);
    expect(calls).toBe(1);
    await clock.advance(2_000);
    expect(calls).toBe(2);
  });
});
