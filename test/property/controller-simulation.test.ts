import { describe, expect, it } from 'vitest';
import { seedsFrom } from '@berth/test-kit/test-seed';
import { expectRest, HOUR, NO_FAULTS, Simulation } from '../app/serve/simulated-controller.ts';

/**
 * The whole controller (Git loop, hub sync, inventory, engine, publisher) on a fake clock, a fake hub and a fake Git, against a
 * seeded sequence of commits, faults, kills, foreign hands and clock jumps. A client watches every write. BERTH_SIMULATIONS sets the
 * number of sequences, BERTH_SEED the first seed.
 */
const SIMULATIONS = Number(process.env['BERTH_SIMULATIONS'] ?? 24);

async function run(seed: number): Promise<void> {
  const sim = new Simulation(seed);
  const { random, clock } = sim;
  sim.start();
  for (let step = 0; step < 25; step++) {
    await clock.advance(random() * 30_000);
    const what = random();
    if (what < 0.45) sim.commit();
    else if (what < 0.6) {
      sim.kill();
      await clock.advance(1_000);
      sim.start();
    } else if (what < 0.7) clock.jump((random() - 0.5) * 6 * HOUR);
    else if (what < 0.78) sim.hub.expire();
    expect(sim.violations).toEqual([]);
  }
  sim.api.rates = NO_FAULTS;
  await clock.advance(HOUR);
  await expectRest(sim);
  void sim.supervisor?.close();
  await clock.advance(60_000);
  expect(clock.pendingTimers).toBe(0);
}

describe('the controller under faults', () => {
  it.each([...seedsFrom(1, SIMULATIONS)])(
    'seed %i: nothing lost on the way, the same state in the end, then silence',
    run,
  );
});
