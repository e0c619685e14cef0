import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TransientError } from '@berth/runtime/errors';
import {
  type Lease,
  type StoredLease,
  LeaseNotHeldError,
  DEFAULT_TIMING,
} from '../../src/leader-election/lease.ts';
import type { TakeOver } from '../../src/leader-election/leadership.ts';
import { LeaderElector } from '../../src/leader-election/leader-elector.ts';
import { FakeClock, settle } from '@berth/test-kit/fake-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { MemoryLeaseStore } from './memory-lease-store.ts';

const away = () => new TransientError('away', { code: 'test.away', subject: 'store' });

describe('LeaderElector', () => {
  let clock: FakeClock;
  let store: MemoryLeaseStore;
  let running: LeaderElector[];
  beforeEach(() => {
    [clock, store, running] = [new FakeClock(), new MemoryLeaseStore(), []];
  });
  afterEach(async () => {
    const closing = Promise.all(running.map((elector) => elector.close()));
    await clock.advance(20_000);
    await closing;
    expect(clock.pendingTimers).toBe(0);
  });

  function elect(identity: string, over: Partial<MemoryLeaseStore> = {}): LeaderElector {
    const elector = new LeaderElector({
      store: Object.assign(Object.create(store) as MemoryLeaseStore, over),
      identity,
      timing: DEFAULT_TIMING,
      clock,
      random: () => 0.5,
      log: new SilentLogger(),
    });
    elector.start();
    running.push(elector);
    return elector;
  }
  const others = (over: Partial<Lease> = {}): Lease => ({
    holder: 'other',
    durationMs: 15_000,
    transitions: 4,
    acquiredAtMs: 0,
    renewedAtMs: 0,
    ...over,
  });

  it('leads at once where nobody does, renews, and counts no transition for that', async () => {
    const elector = elect('a');
    expect(elector.status().role).toBe('deciding');
    await settle();
    expect(elector.status()).toMatchObject({ role: 'leading', holder: 'a' });
    expect(elector.isHeld).toBe(true);
    await clock.advance(60_000);
    expect(elector.isHeld).toBe(true);
    expect(store.current).toMatchObject({ holder: 'a', transitions: 0, durationMs: 15_000 });
    expect(store.current?.renewedAtMs).toBeGreaterThan((store.current?.acquiredAtMs ?? 0) + 50_000);
  });

  it('calls those who prepare once, before anything may be written, and who comes late at once', async () => {
    const elector = elect('a');
    const seen: boolean[] = [];
    elector.onTakeOver(() => seen.push(elector.isHeld));
    await clock.advance(60_000);
    expect(seen).toEqual([false]);
    elector.onTakeOver(() => seen.push(elector.isHeld));
    expect(seen).toEqual([false, true]);
  });

  it('says which term ended when it took the lease, also where the lease was deleted in between', async () => {
    const takeOvers: TakeOver[] = [];
    const lead = async (identity: string): Promise<void> => {
      const elector = elect(identity);
      elector.onTakeOver((takeOver) => takeOvers.push(takeOver));
      await clock.advance(10_000);
      await elector.close();
    };
    for (const identity of ['a', 'b']) await lead(identity);
    store.current = undefined;
    for (const identity of ['c', 'd']) await lead(identity);
    const [a, b, c, d] = takeOvers;
    expect([a?.previousTerm, c?.previousTerm]).toEqual([undefined, undefined]);
    expect([b?.previousTerm, d?.previousTerm]).toEqual([a?.term, c?.term]);
    expect(new Set(takeOvers.map(({ term }) => term)).size).toBe(4);
  });

  it('waits for a lease duration after it last saw the lease change, whatever times it names', async () => {
    store.put(others({ renewedAtMs: -1e12 }));
    const elector = elect('a');
    await clock.advance(14_000);
    store.put(others());
    await clock.advance(14_900);
    expect(elector.status()).toMatchObject({ role: 'standby', holder: 'other' });
    expect(() => elector.fence.enter()).toThrow(LeaseNotHeldError);
    // It looks every two seconds or a little less often, and saw the change by then.
    await clock.advance(15_000 + 2_400 - 14_900 + 400);
    expect(elector.isHeld).toBe(true);
    expect(store.current).toMatchObject({ holder: 'a', transitions: 5 });
  });

  it('takes over from one that died within twice the renew deadline of its last renewal', async () => {
    let isDead = false;
    const dead = elect('dead', {
      replace: (before, lease) => (isDead ? Promise.reject(away()) : store.replace(before, lease)),
    });
    const next = elect('next');
    await clock.advance(30_000);
    expect([dead.isHeld, next.isHeld]).toEqual([true, false]);
    isDead = true;
    const { renewedAtMs = 0 } = store.current ?? {};
    await clock.advance(renewedAtMs + 10_000 - clock.now());
    expect([dead.isHeld, dead.status().role, next.isHeld]).toEqual([false, 'lapsed', false]);
    await clock.advance(10_000);
    expect(next.isHeld).toBe(true);
    expect(store.current).toMatchObject({ holder: 'next', transitions: 1 });
  });

  it('hands over at once when it is stopped', async () => {
    const first = elect('first');
    await settle();
    const second = elect('second');
    await clock.advance(30_000);
    await first.close();
    expect(first.isHeld).toBe(false);
    expect(store.current).toMatchObject({ holder: '', transitions: 0, durationMs: 1_000 });
    await clock.advance(2_400);
    expect(second.isHeld).toBe(true);
    expect(store.current).toMatchObject({ holder: 'second', transitions: 1, durationMs: 15_000 });
  });

  it('writes nothing while the store is away, and goes on when it finds its lease as it left it', async () => {
    const elector = elect('a');
    let takeOvers = 0;
    elector.onTakeOver(() => (takeOvers += 1));
    await settle();
    const { replace } = store;
    store.replace = () => Promise.reject(away());
    await clock.advance(10_000);
    expect(elector.isHeld).toBe(false);
    expect(elector.status()).toMatchObject({ role: 'lapsed', problem: 'store: away' });
    await clock.advance(3_600_000);
    store.replace = replace;
    let waited = false;
    const stop = new AbortController();
    void elector.whenHeld(stop.signal).then(() => (waited = true));
    await settle();
    expect(waited).toBe(false);
    await clock.advance(2_400);
    expect([waited, elector.isHeld, takeOvers]).toEqual([true, true, 1]);
    expect(elector.status()).toMatchObject({ role: 'leading', problem: undefined });
  });

  it('leaves the lease to its holder when the store was away for both, and not when only the holder is gone', async () => {
    let isAway = false;
    const outage = {
      read: () => (isAway ? Promise.reject(away()) : store.read()),
      replace: (before: StoredLease, lease: Lease) =>
        isAway ? Promise.reject(away()) : store.replace(before, lease),
    };
    const holder = elect('holder', outage);
    await settle();
    await clock.advance(1_200);
    const other = elect('other', outage);
    await clock.advance(10_000);
    for (let awayMs = 600_000; awayMs < 602_400; awayMs += 300) {
      isAway = true;
      await clock.advance(awayMs);
      isAway = false;
      await clock.advance(60_000);
      expect([holder.isHeld, other.isHeld]).toEqual([true, false]);
    }
    expect(store.current).toMatchObject({ holder: 'holder', transitions: 0 });
  });

  it('has lost it when another led meanwhile, also one that released it again; for good', async () => {
    for (const holder of ['other', '']) {
      store.current = undefined;
      const elector = elect(`a${holder}`);
      await settle();
      const stop = new AbortController();
      let lost = false;
      void elector.whenLost(stop.signal).then(() => (lost = true));
      store.put(others({ holder }));
      await clock.advance(2_400);
      expect(lost).toBe(true);
      expect(elector.isHeld).toBe(false);
      expect(elector.status()).toMatchObject({ role: 'lost', holder });
      const { version } = store.put(others({ holder }));
      await clock.advance(60_000);
      await elector.close();
      expect(await store.read()).toMatchObject({ version });
    }
  });

  it('has lost it also when its writes are refused, and reads go on', async () => {
    let isRefused = false;
    const elector = elect('a', {
      replace: (before, lease) => (isRefused ? Promise.reject(away()) : store.replace(before, lease)),
    });
    await settle();
    isRefused = true;
    await clock.advance(10_000);
    expect(elector.status().role).toBe('lapsed');
    store.put(others());
    await clock.advance(2_400);
    expect(elector.status()).toMatchObject({ role: 'lost', holder: 'other' });
  });

  it('goes on when a renewal was stored and its answer lost', async () => {
    let lose = 2;
    const elector = elect('a', {
      replace: async (before, lease) => {
        const stored = await store.replace(before, lease);
        if (lose-- > 0) throw away();
        return stored;
      },
    });
    await clock.advance(30_000);
    expect(elector.isHeld).toBe(true);
    expect(store.current).toMatchObject({ holder: 'a', transitions: 0 });
  });

  it('does not count a renewal from its answer: a slow store does not lengthen the lease', async () => {
    let isSlow = false;
    const elector = elect('a', {
      replace: async (before, lease) => {
        if (isSlow) await new Promise<void>((resolve) => clock.schedule(9_000, resolve));
        return store.replace(before, lease);
      },
    });
    await settle();
    isSlow = true;
    await clock.advance(12_000);
    expect(elector.isHeld).toBe(true);
    await clock.advance(8_999);
    // The first slow answer came at 11.2 s and the renewal began at 2.2 s, the second one at 22.4 s.
    expect(elector.isHeld).toBe(false);
  });

  it('ends also when the store never answers, and does not write afterwards', async () => {
    const elector = elect('a');
    await settle();
    store.replace = () => new Promise(() => undefined);
    await clock.advance(3_000);
    let isClosed = false;
    void elector.close().then(() => (isClosed = true));
    await clock.advance(2_999);
    expect([isClosed, elector.isHeld]).toEqual([false, false]);
    await clock.advance(1);
    expect(isClosed).toBe(true);
  });

  it('gives back what it took in the moment in which it was told to end', async () => {
    let release: () => void = () => undefined;
    const elector = elect('a', {
      create: async (lease) => {
        await new Promise<void>((resolve) => (release = resolve));
        return store.create(lease);
      },
    });
    await settle();
    const closing = elector.close();
    release();
    await closing;
    expect(elector.isHeld).toBe(false);
    expect(store.current?.holder).toBe('');
  });

  it('says why it cannot be elected', async () => {
    const refused = new TransientError('no right to get leases', { code: 'test', subject: 'Lease' });
    const elector = elect('a', { read: () => Promise.reject(refused) });
    await clock.advance(10_000);
    expect(elector.status()).toMatchObject({ role: 'deciding', problem: 'Lease: no right to get leases' });
  });
});
