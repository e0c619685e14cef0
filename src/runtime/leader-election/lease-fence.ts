import { setMaxListeners } from 'node:events';
import type { MonotonicClock } from '../../core/ports.ts';
import { LeaseNotHeldError } from './lease-not-held-error.ts';

/** A moment by both clocks of the machine. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** Where the two clocks differ by more than this about one time, the machine slept or its wall clock was set. */
const MAX_DIFFERENCE_MS = 1_000;

/**
 * Open while the last successful renewal began less than the deadline ago. This is computed before every write, since in a process that
 * was frozen and continues no timer has fired yet. Writes that have no answer at the deadline end: bytes of them that still wait in this
 * process are not sent.
 *
 * The time must be short by two clocks. The monotonic clock is never set, but does not advance on Linux while the machine sleeps. The wall
 * clock goes on meanwhile, but may be set. Where the two disagree, the fence is closed until the next renewal.
 */
export class LeaseFence {
  readonly #lease: string;
  readonly #deadlineMs: number;
  readonly #clock: MonotonicClock;
  #renewed: Moment | undefined;
  #underWay = underWay();
  #cancelEnd: () => void = () => undefined;

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

  /** @param begun when the renewal that has succeeded was sent */
  renewed(begun: Moment): void {
    this.#cancelEnd();
    this.#renewed = begun;
    if (this.#underWay.signal.aborted) this.#underWay = underWay();
    const leftMs = begun.monotonicMs + this.#deadlineMs - this.#clock.monotonicMs();
    this.#cancelEnd = this.#clock.schedule(Math.max(0, leftMs), () => this.close());
  }

  /** Nothing is written before the next renewal. */
  close(): void {
    this.#cancelEnd();
    this.#renewed = undefined;
    this.#underWay.abort(new LeaseNotHeldError(this.#lease, true));
  }

  get isOpen(): boolean {
    const renewed = this.#renewed;
    if (renewed === undefined) return false;
    const passedMs = this.#clock.monotonicMs() - renewed.monotonicMs;
    const wallPassedMs = this.#clock.now() - renewed.wallMs;
    return passedMs < this.#deadlineMs && Math.abs(wallPassedMs - passedMs) < MAX_DIFFERENCE_MS;
  }

  /**
   * To be called right before a write is sent.
   *
   * @returns aborts when the write must not go on
   * @throws LeaseNotHeldError unless it is open
   */
  enter(): AbortSignal {
    if (!this.isOpen) throw new LeaseNotHeldError(this.#lease);
    return this.#underWay.signal;
  }
}

function underWay(): AbortController {
  const controller = new AbortController();
  // One for each write under way.
  setMaxListeners(0, controller.signal);
  return controller;
}
