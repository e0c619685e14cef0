/**
 * How long a test waits for what must come, on a machine of any speed: waiting costs nothing where it comes. Not for what must
 * not come, and no measure of how fast anything is.
 */
export const PATIENCE_MS = 240_000;

/** A test or hook that takes longer hangs. Far above PATIENCE_MS, so that what is waited for in vain is told in its own words. */
export const HANG_MS = 5 * PATIENCE_MS;
