/**
 * How long a test waits for what must come. Waiting costs nothing where it comes, and a person at the keyboard wants to hear soon that
 * it does not. CI shares its machine with others and waits longer. Not for what must not come, and no measure of how fast anything is.
 */
export const PATIENCE_MS = process.env['CI'] === undefined ? 20_000 : 240_000;

/** The same for an event after an outage: software waits up to 30 s between two tries. */
export const OUTAGE_PATIENCE_MS = Math.max(PATIENCE_MS, 90_000);

/** The same for tests of many rounds, of which a long run is one test. */
export const LONG_RUN_MS = 1_200_000;

/** A test or hook that takes longer hangs. Far above PATIENCE_MS, so that an event that never came is reported in its own words. */
export const HANG_MS = Math.min(10 * PATIENCE_MS, LONG_RUN_MS);
