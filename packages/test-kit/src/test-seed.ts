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
