/** Time as an argument. The fake of the tests drifts and jumps. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once after `delayMs`; the returned function cancels. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** A clock with a monotonic time, which is never set and never goes back. */
export interface MonotonicClock extends Clock {
  /** Milliseconds since some moment before the start of this process; comparable only within it. */
  monotonicMs(): number;
}

/** A clock that also counts the time while the machine sleeps. */
export interface SleepingClock extends MonotonicClock {
  /**
   * Milliseconds since the machine started, also those in which it slept. Nobody sets it. Exact to a second at least;
   * comparable only within one process.
   */
  sinceBootMs(): number;
}
