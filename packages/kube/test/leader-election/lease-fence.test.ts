import { beforeEach, describe, expect, it } from 'vitest';
import { LeaseFence } from '../../src/leader-election/leader-elector.ts';
import { LeaseNotHeldError } from '../../src/leader-election/lease.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';

describe('LeaseFence', () => {
  let clock: FakeClock;
  let fence: LeaseFence;
  beforeEach(() => {
    clock = new FakeClock();
    fence = new LeaseFence('Lease a/b', 10_000, clock);
  });

  it('is closed before the first renewal, and says why', () => {
    expect(() => fence.enter()).toThrow(LeaseNotHeldError);
    expect(() => fence.enter()).toThrow('Lease a/b: is not held by this process now');
  });

  it('counts from the moment at which the renewal was sent, not from its answer', async () => {
    const begun = fence.now();
    await clock.advance(4_000);
    fence.renewed(begun);
    await clock.advance(5_999);
    expect(fence.isOpen).toBe(true);
    await clock.advance(1);
    expect(fence.isOpen).toBe(false);
    fence.renewed(fence.now());
    expect(fence.isOpen).toBe(true);
  });

  it('is computed from the clock: it is closed at once in a process that was frozen', async () => {
    fence.renewed(fence.now());
    await clock.advance(3_600_000);
    expect(clock.pendingTimers).toBe(0);
    expect(fence.isOpen).toBe(false);
  });

  it('sees a machine that slept, whose monotonic clock stood still, by the wall clock', () => {
    fence.renewed(fence.now());
    clock.jump(60_000);
    expect(fence.isOpen).toBe(false);
  });

  it.each([-3_600_000, -20_000, 5_000])(
    'believes neither clock when the wall clock was set by %i ms',
    (byMs) => {
      fence.renewed(fence.now());
      clock.jump(byMs);
      expect(fence.isOpen).toBe(false);
      fence.renewed(fence.now());
      expect(fence.isOpen).toBe(true);
    },
  );

  it('does not mind a wall clock that is adjusted a little', async () => {
    fence.renewed(fence.now());
    clock.jump(-900);
    expect(fence.isOpen).toBe(true);
    await clock.advance(10_000);
    expect(fence.isOpen).toBe(false);
  });

  it('ends what is still under way at the deadline of the last renewal, counted from when that was sent', async () => {
    fence.renewed(fence.now());
    const first = fence.enter();
    await clock.advance(6_000);
    const begun = fence.now();
    await clock.advance(3_000);
    fence.renewed(begun);
    const second = fence.enter();
    await clock.advance(6_999);
    expect([first.aborted, second.aborted]).toEqual([false, false]);
    await clock.advance(1);
    expect([first.aborted, second.aborted]).toEqual([true, true]);
    expect(first.reason).toBeInstanceOf(LeaseNotHeldError);
    expect(String(first.reason)).toContain('unknown whether this was written');
    fence.renewed(fence.now());
    expect(fence.enter().aborted).toBe(false);
  });

  it('takes as many writes at a time as there are', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warn);
    fence.renewed(fence.now());
    for (let write = 0; write < 100; write++) fence.enter().addEventListener('abort', () => undefined);
    // Node warns in the next tick.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  });

  it('stays closed once it was closed, and ends what is under way', () => {
    fence.renewed(fence.now());
    const write = fence.enter();
    fence.close();
    expect([fence.isOpen, write.aborted, clock.pendingTimers]).toEqual([false, true, 0]);
  });
});
