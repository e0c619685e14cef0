import { onTestFailed } from 'vitest';

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

/**
 * The seed of all random input of a run. In CI it is always 1, so that the same change has the same result; elsewhere
 * each run draws another one. `BERTH_SEED` sets it.
 */
export const TEST_SEED = firstSeed(process.env['CI'] === undefined ? Math.floor(Math.random() * 2 ** 31) : 1);

/** The seed of a test that is not drawn: `fixed`, unless `BERTH_SEED` sets another one. */
export function firstSeed(fixed: number): number {
  return Number(process.env['BERTH_SEED'] ?? fixed);
}

/** So many seeds in a row, of a test of histories. */
export function seedsFrom(fixed: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => firstSeed(fixed) + at);
}
