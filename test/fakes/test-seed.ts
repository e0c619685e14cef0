/**
 * The seed of all random input of a run. In CI it is always 1, so that the same change has the same result; elsewhere
 * each run draws another one. `BERTH_SEED` sets it.
 */
export const TEST_SEED = Number(
  process.env['BERTH_SEED'] ?? (process.env['CI'] === undefined ? Math.floor(Math.random() * 2 ** 31) : 1),
);
