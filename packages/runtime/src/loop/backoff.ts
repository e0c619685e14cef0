export interface BackoffLimits {
  readonly initialMs: number;
  readonly maxMs: number;
}

/**
 * Exponential backoff with "equal jitter": half of the step is fixed, half is random, so that many
 * waiters spread out and none retries immediately.
 */
export class Backoff {
  #failures = 0;
  readonly #limits: BackoffLimits;
  readonly #random: () => number;

  /** @param random uniform in [0, 1) */
  constructor(limits: BackoffLimits, random: () => number) {
    this.#limits = limits;
    this.#random = random;
  }

  get failures(): number {
    return this.#failures;
  }

  /**
   * Counts one failure.
   * @returns the wait before the next try, in milliseconds
   */
  nextMs(): number {
    const stepMs = Math.min(this.#limits.maxMs, this.#limits.initialMs * 2 ** Math.min(this.#failures, 40));
    this.#failures += 1;
    return stepMs / 2 + (stepMs / 2) * this.#random();
  }

  reset(): void {
    this.#failures = 0;
  }
}
