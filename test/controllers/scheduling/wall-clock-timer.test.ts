import { describe, expect, it } from 'vitest';
import { WallClockTimer } from '../../../src/controllers/scheduling/wall-clock-timer.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';

describe('a moment timer', () => {
  const start = () => {
    const clock = new FakeClock();
    const calledAtMs: number[] = [];
    const startMs = clock.now();
    return {
      ...{ clock, calledAtMs, startMs },
      timer: new WallClockTimer(clock, () => calledAtMs.push(clock.now() - startMs)),
    };
  };

  it.each([
    ['in a moment', 1_000, 1_000],
    ['in a day', 86_400_000, 86_400_000],
    ['in the past', -5_000, 100],
  ])('calls once for a moment %s', async (_when, inMs, want) => {
    const { clock, timer, calledAtMs, startMs } = start();
    timer.arm(startMs + inMs);
    await clock.advance(2 * 86_400_000);
    expect(calledAtMs).toEqual([want]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('calls within 15 s when the clock jumps past the moment', async () => {
    const { clock, timer, calledAtMs, startMs } = start();
    timer.arm(startMs + 3_600_000);
    await clock.advance(1_000);
    clock.jump(7_200_000);
    await clock.advance(15_000);
    expect(calledAtMs).toHaveLength(1);
  });

  it('waits for the moment when the clock is set back', async () => {
    const { clock, timer, calledAtMs, startMs } = start();
    timer.arm(startMs + 10_000);
    clock.jump(-3_600_000);
    await clock.advance(3_600_000);
    expect(calledAtMs).toEqual([]);
    await clock.advance(10_000);
    expect(calledAtMs).toEqual([10_000]);
  });

  it('forgets the moment before, and all when it is cancelled', async () => {
    const { clock, timer, calledAtMs, startMs } = start();
    timer.arm(startMs + 1_000);
    timer.arm(startMs + 2_000);
    await clock.advance(5_000);
    expect(calledAtMs).toEqual([2_000]);
    timer.arm(clock.now() + 1_000);
    timer.cancel();
    timer.arm(Infinity);
    expect(clock.pendingTimers).toBe(0);
  });
});
