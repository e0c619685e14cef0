import { describe, expect, it } from 'vitest';
import { warmEngine } from '../../../src/controllers/scheduling/scheduling-loop.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { snapshotOf } from '../../../packages/placement/test/snapshots.ts';

/** Its clock moves whenever it is asked, so that each decision is a slice. */
class HurriedClock extends FakeClock {
  asked = 0;
  override now(): number {
    this.asked += 1;
    this.jump(10);
    return super.now();
  }
}

function fleet(clusters: number, placements: number): Snapshot {
  const names = Array.from({ length: clusters }, (_, at) => ({ name: `c${at}` }));
  const placement = { apiVersion: 'v1', kind: 'Placement', metadata: { name: 'p' } } as const;
  return {
    ...snapshotOf({ clusters: names }),
    placements: Array.from({ length: placements }, () => placement),
  };
}

describe('warming the engine', () => {
  it('is left out for a small hub', async () => {
    const clock = new HurriedClock();
    await warmEngine(fleet(99, 1_000), clock, new AbortController().signal);
    expect(clock.asked).toBeLessThan(3);
    expect(clock.pendingTimers).toBe(0);
  });

  it('takes turns with the rest of the process, and ends when that ends', async () => {
    const [clock, stop] = [new HurriedClock(), new AbortController()];
    const warming = warmEngine(fleet(100, 1_000), clock, stop.signal);
    // It waits for its turn after the first decision.
    expect(clock.pendingTimers).toBe(1);
    stop.abort();
    await warming;
    expect(clock.pendingTimers).toBe(0);
  });
});
