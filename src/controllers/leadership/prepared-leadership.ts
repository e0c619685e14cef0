import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import type { Leadership, LeadershipStatus, TakeOver } from '@berth/kube/leader-election/leadership';
import { sleep, WaitList } from '@berth/runtime/loop/sleep';
import type { Supervisor } from '@berth/runtime/loop/supervisor';

export interface PreparedLeadershipOptions {
  readonly inner: Leadership;
  /**
   * Checks whether the hub was restored or replaced, and reads what the previous leader was about to publish. Rejects
   * while the hub does not respond.
   */
  readonly lookFirst: () => Promise<unknown>;
  /** Reads the last writes of the previous leader. Called after `lookFirst`. */
  readonly readPublished: (signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

const RETRY_MS = 1_000;

/**
 * A leadership that starts after the process that took the lease has checked whether the hub was
 * restored or replaced, and has read the published decisions. Its watches may still show an earlier
 * state of the hub.
 */
export class PreparedLeadership implements Leadership {
  readonly #options: PreparedLeadershipOptions;
  readonly #listeners: ((takeOver: TakeOver) => void)[] = [];
  readonly #waiting = new WaitList();
  #taken: TakeOver | undefined;
  #isPrepared = false;

  constructor(options: PreparedLeadershipOptions) {
    this.#options = options;
    options.inner.onTakeOver((takeOver) => (this.#taken = takeOver));
  }

  start(supervisor: Supervisor): void {
    supervisor.start('take-over', (signal) => this.#prepare(signal));
  }

  get isHeld(): boolean {
    return this.#isPrepared && this.#options.inner.isHeld;
  }

  async whenHeld(signal: AbortSignal): Promise<void> {
    await this.#waiting.until(() => this.#isPrepared, signal);
    await this.#options.inner.whenHeld(signal);
  }

  async whenDecided(signal: AbortSignal): Promise<void> {
    const { inner } = this.#options;
    await inner.whenDecided(signal);
    if (inner.isHeld) await this.whenHeld(signal);
  }

  onTakeOver(listener: (takeOver: TakeOver) => void): void {
    this.#listeners.push(listener);
    if (this.#isPrepared && this.#taken !== undefined) listener(this.#taken);
  }

  status(): LeadershipStatus | undefined {
    return this.#options.inner.status();
  }

  async #prepare(signal: AbortSignal): Promise<void> {
    const { inner, lookFirst, readPublished, clock, log } = this.#options;
    for (let isChecked = false; !isChecked; ) {
      await inner.whenHeld(signal);
      if (signal.aborted) return;
      try {
        await lookFirst();
        isChecked = true;
      } catch (error) {
        log.warn('hub does not answer, so this process does not write yet', { error });
        await sleep(clock, RETRY_MS, signal);
      }
    }
    await readPublished(signal);
    if (signal.aborted) return;
    if (this.#taken !== undefined) for (const listener of this.#listeners) listener(this.#taken);
    this.#isPrepared = true;
    this.#waiting.wake();
  }
}
