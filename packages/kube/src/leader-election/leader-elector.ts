import { setMaxListeners } from 'node:events';
import type { MonotonicClock } from '@berth/runtime/clock/clock';
import { ConflictError, errorText } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import { sleep, WaitList } from '@berth/runtime/loop/sleep';
import type { Leadership, LeadershipStatus, TakeOver } from './leadership.ts';
import {
  type Lease,
  type LeaseStore,
  type StoredLease,
  termOf,
  LeaseNotHeldError,
  type ElectionTiming,
  JITTER,
} from './lease.ts';

export interface ElectorOptions {
  readonly store: LeaseStore;
  /** Unique for each start of a process. */
  readonly identity: string;
  /** The values have been checked. */
  readonly timing: ElectionTiming;
  readonly clock: MonotonicClock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** Whether this process takes the lease when it is free. Default: always. */
  readonly mayTake?: (() => boolean) | undefined;
}

/** The attempts after a conflict: each reads the lease and decides again. */
const MAX_TRIES = 3;
/** A store that does not answer must not keep the process from ending. */
const RELEASE_LIMIT_MS = 3_000;

/**
 * Takes the lease when it is free, renews it, and tells whether this process may write. The rules
 * are those of client-go's tools/leaderelection, with one exception. A holder that cannot renew in
 * time stops writing, and continues when it finds that the lease still names it: then no other
 * process has led. A lease that names another process is lost permanently: what this process
 * remembers may be wrong, so it ends and starts again.
 */
export class LeaderElector implements Leadership {
  readonly #options: ElectorOptions;
  /** The fence of all writes, except those of the lease itself. */
  readonly fence: LeaseFence;
  readonly #stop = new AbortController();
  readonly #waiting = new WaitList();
  readonly #onTakeOver = new Set<(takeOver: TakeOver) => void>();
  #takeOver: TakeOver | undefined;
  #view: LeaseView | undefined;
  #isDecided = false;
  #isLeading = false;
  #isLost = false;
  #failure: unknown;
  #wasHeld = false;
  #running: Promise<void> = Promise.resolve();

  constructor(options: ElectorOptions) {
    const { store, timing, clock } = options;
    this.#options = options;
    this.fence = new LeaseFence(`Lease ${store.name}`, timing.renewDeadlineMs, clock);
  }

  get isHeld(): boolean {
    return this.fence.isOpen;
  }

  onTakeOver(listener: (takeOver: TakeOver) => void): void {
    this.#onTakeOver.add(listener);
    if (this.#takeOver !== undefined) listener(this.#takeOver);
  }

  whenHeld(signal: AbortSignal): Promise<void> {
    return this.#waiting.until(() => this.isHeld, signal);
  }

  whenDecided(signal: AbortSignal): Promise<void> {
    return this.#waiting.until(() => this.#isDecided, signal);
  }

  /** Resolves when the lease was lost, or when the signal aborts. */
  whenLost(signal: AbortSignal): Promise<void> {
    return this.#waiting.until(() => this.#isLost, signal);
  }

  status(): LeadershipStatus {
    const { store, identity } = this.#options;
    const problem = this.#failure === undefined ? undefined : errorText(this.#failure);
    const { holder = '', transitions = 0 } = this.#view?.lease ?? {};
    return { role: this.#role(), lease: store.name, identity, holder, transitions, problem };
  }

  start(): void {
    this.#running = this.#run(this.#stop.signal);
  }

  /** Releases the lease, so that the next process need not wait. All writers must have stopped before. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.fence.close();
    const { clock } = this.#options;
    const limit = new AbortController();
    await Promise.race([
      this.#running.then(() => this.#release()),
      sleep(clock, RELEASE_LIMIT_MS, limit.signal),
    ]);
    limit.abort();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted && !this.#isLost) await sleep(clock, await this.#attempt(), signal);
  }

  /** @returns the wait before the next attempt, in milliseconds */
  async #attempt(): Promise<number> {
    const { timing, random } = this.#options;
    const jittered = timing.retryPeriodMs * (1 + JITTER * random());
    try {
      const freeInMs = await this.#takeOrRenew();
      this.#failure = undefined;
      this.#isDecided = true;
      this.#waiting.wake();
      // When the lease becomes free, with jitter, so that processes do not try at the same time.
      return Math.min(jittered, freeInMs + JITTER * random() * timing.retryPeriodMs);
    } catch (error) {
      this.#failed(error);
      return jittered;
    }
  }

  /** @returns the milliseconds until the lease is free; Infinity if this process holds it, or leaves it to others */
  async #takeOrRenew(): Promise<number> {
    // The holder renews without reading first: if another process wrote the lease, its write fails,
    // and it reads. A lapsed holder reads first: if its writes are refused, it would not notice
    // that another process took the lease.
    let view = this.isHeld ? this.#view : undefined;
    for (let tries = 1; ; tries++) {
      view ??= await this.#readView();
      const begun = this.fence.now();
      const step = planElection({
        identity: this.#options.identity,
        leaseDurationMs: this.#options.timing.leaseDurationMs,
        isLeading: this.#isLeading,
        isHeld: this.isHeld,
        view,
        nowMs: begun.monotonicMs,
        wallMs: begun.wallMs,
      });
      if (step.kind === 'wait') return step.forMs;
      if (step.kind === 'lost') return this.#lose(step.holder);
      if (!this.#isLeading && this.#options.mayTake?.() === false) return Infinity;
      try {
        const stored = await this.#write(view.lease, step.lease);
        this.#observe(stored);
        this.#hold(begun, stored, view.lease);
        return Infinity;
      } catch (error) {
        if (!(error instanceof ConflictError) || tries === MAX_TRIES) throw error;
        view = undefined;
      }
    }
  }

  #write(before: StoredLease | undefined, lease: Lease): Promise<StoredLease> {
    const { store } = this.#options;
    return before === undefined ? store.create(lease) : store.replace(before, lease);
  }

  async #readView(): Promise<LeaseView> {
    return this.#observe(await this.#options.store.read());
  }

  #observe(lease: StoredLease | undefined): LeaseView {
    const { timing, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#view = viewLease(this.#view, lease, {
      nowMs,
      defaultDurationMs: timing.leaseDurationMs,
      graceMs: this.#failure === undefined ? 0 : 2 * timing.retryPeriodMs,
    });
    return this.#view;
  }

  #hold(begun: Moment, lease: Lease, before: Lease | undefined): void {
    // When close() has started, the lease is only released.
    if (this.#stop.signal.aborted) return;
    const { log, store, identity } = this.#options;
    if (!this.#isLeading) {
      this.#isLeading = true;
      log.info('this process leads now', { lease: store.name, identity });
      const previousTerm = before && termOf(before);
      this.#takeOver = { lease: store.name, term: termOf(lease), previousTerm };
      for (const listener of this.#onTakeOver) listener(this.#takeOver);
    } else if (!this.#wasHeld) log.info('lease renewed, writing continues', { lease: store.name });
    this.#wasHeld = true;
    this.fence.renewed(begun);
  }

  #lose(holder: string): number {
    this.#isLost = true;
    this.#isLeading = false;
    this.fence.close();
    this.#options.log.error('the lease was lost; this process stopped writing', {
      lease: this.#options.store.name,
      holder,
    });
    return 0;
  }

  #failed(error: unknown): void {
    const { log, store } = this.#options;
    // A series of failures is logged once.
    if (this.#failure === undefined)
      log.warn('the lease cannot be read or written; it will be retried', { lease: store.name, error });
    this.#failure = error;
    if (!this.#wasHeld || this.isHeld) return;
    this.#wasHeld = false;
    log.warn('the lease was not renewed in time; nothing is written until it is', {
      lease: store.name,
      error,
    });
  }

  async #release(): Promise<void> {
    const { store, identity, log, clock } = this.#options;
    try {
      let lease = this.#view?.lease;
      for (let tries = 1; lease?.holder === identity; tries++) {
        try {
          await store.replace(lease, { ...lease, holder: '', durationMs: 1_000, renewedAtMs: clock.now() });
          log.info('lease released', { lease: store.name });
          return;
        } catch (error) {
          if (!(error instanceof ConflictError) || tries === MAX_TRIES) throw error;
          lease = await store.read();
        }
      }
    } catch (error) {
      log.warn('the lease was not released; it will expire', { lease: store.name, error });
    }
  }

  #role(): LeadershipStatus['role'] {
    if (this.#isLost) return 'lost';
    if (this.#isLeading) return this.isHeld ? 'leading' : 'lapsed';
    return this.#isDecided ? 'standby' : 'deciding';
  }
}

/** A time by both clocks of the machine. */
interface Moment {
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

/**
 * The last state of a lease that this process read. Times are of this process's monotonic clock.
 */
interface LeaseView {
  /** Undefined if there is no lease. */
  readonly lease: StoredLease | undefined;
  /** When another process may take it. */
  readonly freeAtMs: number;
}

/**
 * The view after a read from the store. Whether a lease is still held depends on how long this process has seen it
 * unchanged, and never on the times in it, which another clock wrote (the rule of client-go's leaderelection). So a
 * lease that is seen for the first time counts as held for its whole duration. A lease that was deleted was not
 * released, so it counts as held for the rest of its duration.
 *
 * @param nowMs when the response arrived
 * @param defaultDurationMs for a lease that does not contain its duration
 * @param graceMs how long an unchanged lease stays held in any case: while this process could not read the store,
 *   perhaps the holder could not write it
 */
export function viewLease(
  before: LeaseView | undefined,
  lease: StoredLease | undefined,
  how: { readonly nowMs: number; readonly defaultDurationMs: number; readonly graceMs: number },
): LeaseView {
  const { nowMs, defaultDurationMs, graceMs } = how;
  if (lease === undefined) return { lease, freeAtMs: before?.freeAtMs ?? nowMs };
  if (before?.lease?.version === lease.version)
    return lease.holder === '' ? before : { lease, freeAtMs: Math.max(before.freeAtMs, nowMs + graceMs) };
  if (lease.holder === '') return { lease, freeAtMs: nowMs };
  return { lease, freeAtMs: nowMs + (lease.durationMs > 0 ? lease.durationMs : defaultDurationMs) };
}

type ElectionStep =
  /** Another process has the lease for at least this long. */
  | { readonly kind: 'wait'; readonly forMs: number }
  /** Take or renew the lease: create it, or replace the version that was read. */
  | { readonly kind: 'write'; readonly lease: Lease }
  /** This process held it, and another process may have led since. */
  | { readonly kind: 'lost'; readonly holder: string };

interface ElectionState {
  readonly identity: string;
  readonly leaseDurationMs: number;
  /** Whether this process took the lease and has not lost it since. */
  readonly isLeading: boolean;
  /** Whether it was renewed within its deadline. */
  readonly isHeld: boolean;
  readonly view: LeaseView;
  /** On the monotonic clock. */
  readonly nowMs: number;
  /** Milliseconds since the epoch, for readers of the lease. */
  readonly wallMs: number;
}

/** The next step of the election. */
export function planElection(state: ElectionState): ElectionStep {
  const { identity, isLeading, isHeld, view, nowMs, wallMs, leaseDurationMs: durationMs } = state;
  const { lease, freeAtMs } = view;
  const taken = { holder: identity, durationMs, acquiredAtMs: wallMs, renewedAtMs: wallMs };
  // Only this process writes its identity, so no other process has led since. The response to its last write may have been lost.
  if (lease?.holder === identity) {
    const { acquiredAtMs, transitions } = lease;
    // A write without a change creates no new version, so other processes would not see a renewal.
    const renewedAtMs = wallMs === lease.renewedAtMs ? wallMs + 1 : wallMs;
    return { kind: 'write', lease: { ...taken, acquiredAtMs, renewedAtMs, transitions } };
  }
  if (isLeading && (lease !== undefined || !isHeld)) return { kind: 'lost', holder: lease?.holder ?? '' };
  if (!isLeading && nowMs < freeAtMs) return { kind: 'wait', forMs: freeAtMs - nowMs };
  return { kind: 'write', lease: { ...taken, transitions: lease === undefined ? 0 : lease.transitions + 1 } };
}
