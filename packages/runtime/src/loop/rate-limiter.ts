import type { Clock } from '../clock/clock.ts';
import { sleep } from './sleep.ts';

/** A rate limit: `burst` at once, then `perSecond` on average (a token bucket). */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** A rate limiter: callers pass at a fixed rate, in the order of their calls. */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #stepMs: number;
  readonly #burstMs: number;
  /** When all calls so far would be done at the fixed rate. */
  #doneAtMs = -Infinity;

  constructor(clock: Clock, { perSecond, burst }: RateLimit) {
    this.#clock = clock;
    this.#stepMs = 1_000 / perSecond;
    this.#burstMs = this.#stepMs * (burst - 1);
  }

  /** Resolves when the caller may continue, or when the signal aborts. */
  async whenDue(signal: AbortSignal): Promise<void> {
    const nowMs = this.#clock.now();
    const startMs = Math.max(this.#doneAtMs, nowMs);
    this.#doneAtMs = startMs + this.#stepMs;
    const waitMs = startMs - this.#burstMs - nowMs;
    if (waitMs > 0) await sleep(this.#clock, waitMs, signal);
  }
}

/** More texts than this are forgotten, the oldest first, so that untrusted texts cannot fill the memory. */
const MAX_TEXTS = 1_000;

/** Lets each text through once per period, so that a failure that repeats is not logged every time. */
export class OncePerPeriod {
  readonly #nowMs: () => number;
  readonly #periodMs: number;
  readonly #passedAtMs = new Map<string, number>();

  constructor(nowMs: () => number, periodMs: number) {
    this.#nowMs = nowMs;
    this.#periodMs = periodMs;
  }

  /** Whether the text may pass now. A clock that was set back lets it pass. */
  isDue(text: string): boolean {
    const now = this.#nowMs();
    const ageMs = now - (this.#passedAtMs.get(text) ?? -Infinity);
    if (ageMs >= 0 && ageMs < this.#periodMs) return false;
    this.#passedAtMs.delete(text);
    this.#passedAtMs.set(text, now);
    const [oldest] = this.#passedAtMs.keys();
    if (this.#passedAtMs.size > MAX_TEXTS && oldest !== undefined) this.#passedAtMs.delete(oldest);
    return true;
  }
}
