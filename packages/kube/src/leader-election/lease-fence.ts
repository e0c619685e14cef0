import { setMaxListeners } from 'node:events';
import type { MonotonicClock } from '@berth/runtime/clock/clock';
import { LeaseNotHeldError } from './lease-not-held-error.ts';

/** A time by both clocks of the machine. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** If the two clocks differ by more than this, the machine slept or its wall clock was set. */
const MAX_DIFFERENCE_MS = 1_000;

/**
 * Open while the last successful renewal started less than the deadline ago. This is computed
 * before every write, because in a process that was frozen no timer has fired yet. Writes without a
 * response at the deadline are aborted: bytes that are still in this process are not sent. The time
 * is measured by two clocks. The monotonic clock cannot be set, but on Linux it does not advance
 * while the machine sleeps. The wall clock advances meanwhile, but can be set. If the two disagree,
 * the fence is closed until the next renewal.
 */
export class LeaseFence {
  readonly #lease: string;
  readonly #deadlineMs: number;
  readonly #clock: MonotonicClock;
  #renewed: Moment | undefined;
  #pendingWrites = newPendingWrites();
  #cancelEnd: () => void = () => undefined;

  /** @param lease the name of the lease, for errors */
  constructor(lease: string, deadlineMs: number, clock: MonotonicClock) {
    this.#lease = lease;
    this.#deadlineMs = deadlineMs;
    this.#clock = clock;
  }

  /** Call it before a renewal is sent. */
  now(): Moment {
    return { monotonicMs: this.#clock.monotonicMs(), wallMs: this.#clock.now() };
  }

  /** @param begun when the successful renewal was sent */
  renewed(begun: Moment): void {
    this.#cancelEnd();
    this.#renewed = begun;
    if (this.#pendingWrites.signal.aborted) this.#pendingWrites = newPendingWrites();
    const leftMs = begun.monotonicMs + this.#deadlineMs - this.#clock.monotonicMs();
    this.#cancelEnd = this.#clock.schedule(Math.max(0, leftMs), () => this.close());
  }

  /** Blocks writes until the next renewal. */
  close(): void {
    this.#cancelEnd();
    this.#renewed = undefined;
    this.#pendingWrites.abort(new LeaseNotHeldError(this.#lease, true));
  }

  get isOpen(): boolean {
    const renewed = this.#renewed;
    if (renewed === undefined) return false;
    const passedMs = this.#clock.monotonicMs() - renewed.monotonicMs;
    const wallPassedMs = this.#clock.now() - renewed.wallMs;
    return passedMs < this.#deadlineMs && Math.abs(wallPassedMs - passedMs) < MAX_DIFFERENCE_MS;
  }

  /**
   * Call it immediately before a write is sent.
   *
   * @returns a signal that aborts when the write must stop
   * @throws LeaseNotHeldError unless it is open
   */
  enter(): AbortSignal {
    if (!this.isOpen) throw new LeaseNotHeldError(this.#lease);
    return this.#pendingWrites.signal;
  }
}

function newPendingWrites(): AbortController {
  const controller = new AbortController();
  // Each pending write adds a listener.
  setMaxListeners(0, controller.signal);
  return controller;
}
