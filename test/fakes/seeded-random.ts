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

/** For a test that draws anew each time: from `BERTH_SEED` where that is set. A test that fails says its seed. */
export function drawn(): () => number {
  const seed = Number(process.env['BERTH_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  onTestFailed(() => console.error(`drawn with BERTH_SEED=${seed}`));
  return seeded(seed);
}
