import { describe, expect, it } from 'vitest';
import { SecondTicks, TickEntry } from '../../src/flow/second-ticks.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';

class Noted extends TickEntry {
  readonly seen: number[] = [];
  readonly #also: (seconds: number) => void;

  constructor(also: (seconds: number) => void = () => undefined) {
    super();
    this.#also = also;
  }

  tick(seconds: number): void {
    this.seen.push(seconds);
    this.#also(seconds);
  }
}

describe('ticks', () => {
  it('come once a second to all that are added, until they are removed', async () => {
    const clock = new FakeClock();
    const ticks = new SecondTicks(clock);
    const [a, b] = [new Noted(), new Noted()];
    for (const entry of [a, b, a]) ticks.add(entry);
    await clock.advance(2_500);
    ticks.delete(a);
    ticks.delete(a);
    await clock.advance(1_000);
    ticks.add(a);
    await clock.advance(1_000);
    expect([a.seen, b.seen]).toEqual([
      [1, 2, 4],
      [1, 2, 3, 4],
    ]);
  });

  it('do not come early when the wall clock jumps', async () => {
    const clock = new FakeClock();
    const ticks = new SecondTicks(clock);
    const entry = new Noted();
    ticks.add(entry);
    clock.jump(3_600_000);
    await clock.advance(3_000);
    expect(entry.seen).toEqual([1, 2, 3]);
  });

  it('reach everybody although entries remove themselves and each other, and add others', async () => {
    const clock = new FakeClock();
    const ticks = new SecondTicks(clock);
    const late = new Noted();
    const victim = new Noted();
    const selfish = new Noted(() => {
      ticks.delete(selfish);
      ticks.delete(victim);
      ticks.add(late);
    });
    const patient = new Noted();
    for (const entry of [patient, victim, selfish]) ticks.add(entry);
    await clock.advance(2_000);
    expect([selfish.seen, victim.seen, patient.seen, late.seen]).toEqual([[1], [], [1, 2], [2]]);
  });

  it('need no timer while there is nothing to ask', async () => {
    const clock = new FakeClock();
    const ticks = new SecondTicks(clock);
    const entry = new Noted();
    ticks.add(entry);
    ticks.delete(entry);
    await clock.advance(1_000);
    expect(clock.pendingTimers).toBe(0);
    ticks.add(entry);
    ticks.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('go on for entries that are added again after a stop', async () => {
    const clock = new FakeClock();
    const ticks = new SecondTicks(clock);
    const [a, b] = [new Noted(), new Noted()];
    for (const entry of [a, b]) ticks.add(entry);
    ticks.stop();
    for (const entry of [a, b]) ticks.add(entry);
    ticks.delete(a);
    await clock.advance(1_000);
    expect([a.seen, b.seen]).toEqual([[], [1]]);
  });
});
