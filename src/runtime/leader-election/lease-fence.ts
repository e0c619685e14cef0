import type { MonotonicClock } from '../../core/ports.ts';
import { LeaseNotHeldError } from './lease-not-held-error.ts';

/** A moment by both clocks of the machine. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** Two clocks of one machine that differ by more than this about one time: it slept, or its clock was set. */
const MAX_DIFFERENCE_MS = 1_000;

/**
 * Open while the last successful renewal began less than the deadline ago. It is asked before every write, and computes instead of
 * remembering: no timer has fired yet in a process that was frozen and goes on.
 *
 * Time is measured by two clocks, and has to be short by both. The monotonic one is never set, but on Linux stands still while the
 * machine sleeps; the wall clock counts that, but may be set. Where they disagree neither is believed, until the next renewal.
 */
export class LeaseFence {
  readonly #lease: string;
  readonly #deadlineMs: number;
  readonly #clock: MonotonicClock;
  #renewed: Moment | undefined;

  /** @param lease its name, for errors */
  constructor(lease: string, deadlineMs: number, clock: MonotonicClock) {
    this.#lease = lease;
    this.#deadlineMs = deadlineMs;
    this.#clock = clock;
  }

  /** To be called before a renewal is sent. */
  now(): Moment {
    return { monotonicMs: this.#clock.monotonicMs(), wallMs: this.#clock.now() };
  }

  /** @param begun when the renewal was sent that has succeeded now */
  renewed(begun: Moment): void {
    this.#renewed = begun;
  }

  close(): void {
    this.#renewed = undefined;
  }

  get isOpen(): boolean {
    const renewed = this.#renewed;
    if (renewed === undefined) return false;
    const passedMs = this.#clock.monotonicMs() - renewed.monotonicMs;
    const wallPassedMs = this.#clock.now() - renewed.wallMs;
    return passedMs < this.#deadlineMs && Math.abs(wallPassedMs - passedMs) < MAX_DIFFERENCE_MS;
  }

  /** @throws LeaseNotHeldError unless it is open */
  require(): void {
    if (!this.isOpen) throw new LeaseNotHeldError(this.#lease);
  }
}
