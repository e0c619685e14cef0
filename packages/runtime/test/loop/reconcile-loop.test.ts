import { describe, expect, it } from 'vitest';
import { ReconcileLoop, DONE, type ReconcileOutcome, RETRY } from '../../src/loop/reconciler.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';

function startLoop(pass: (call: number) => Promise<ReconcileOutcome>) {
  const clock = new FakeClock();
  const log = new SilentLogger();
  const startedAtMs: number[] = [];
  const loop = new ReconcileLoop({
    name: 'test',
    reconcile: (_key) => pass(startedAtMs.push(clock.now()) - 1),
    concurrency: 1,
    clock,
    random: () => 0,
    log,
    backoff: { initialMs: 200, maxMs: 60_000 },
    passLimitMs: 10_000,
  });
  const begin = clock.now();
  return { loop, clock, log, passes: () => startedAtMs.map((ms) => ms - begin) };
}

describe('a reconcile loop', () => {
  it('retries what is not finished with growing delay, and reports no error', async () => {
    const { loop, clock, log, passes } = startLoop((call) => Promise.resolve(call < 3 ? RETRY : DONE));
    loop.add('a');
    await clock.advance(60_000);
    expect(passes()).toEqual([0, 100, 300, 700]);
    expect(log.entries).toEqual([]);
    await loop.close();
  });

  it('forgets the failures of a key with news', async () => {
    const { loop, clock, passes } = startLoop(() => Promise.reject(new Error('x')));
    loop.add('a');
    await clock.advance(300);
    loop.add('a', true);
    await clock.advance(350);
    expect(passes()).toEqual([0, 100, 300, 300, 400, 600]);
    await loop.close();
  });

  it('gives up a pass that hangs, and tries again', async () => {
    const hangs = new Promise<ReconcileOutcome>(() => undefined);
    const { loop, clock, log, passes } = startLoop((call) => (call === 0 ? hangs : Promise.resolve(DONE)));
    loop.add('a');
    await clock.advance(10_100);
    expect(passes()).toEqual([0, 10_100]);
    expect(log.entries).toMatchObject([
      { level: 'warn', fields: { key: 'a', error: { code: 'reconcile.too-slow' } } },
    ]);
    await loop.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it('begins no pass once it is closed', async () => {
    const { loop, clock, passes } = startLoop(() => Promise.resolve(DONE));
    loop.addAfter('a', 100);
    await loop.close();
    loop.add('b');
    await clock.advance(1_000);
    expect(passes()).toEqual([]);
  });
});
