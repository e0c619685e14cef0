import { onTestFailed } from 'vitest';
import { TEST_SEED } from './test-seed.ts';

/** Uniform in [0, 1), the same sequence for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Random numbers of this run (see `TEST_SEED`). A test that fails prints the seed. */
export function drawn(): () => number {
  onTestFailed(() => console.error(`repeat with BERTH_SEED=${TEST_SEED}`));
  return seeded(TEST_SEED);
}
