import { TransientError } from '@berth/runtime/errors';
import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import { Backoff } from '@berth/runtime/loop/backoff';
import { sleep, WakeUp } from '@berth/runtime/loop/sleep';
import type { PullRequestPreviews } from './pull-request-previews.ts';

export interface ReportedWorkOptions<T> {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** The kind of event, for display: `comment`. */
  readonly what: string;
  /** Who caused an event, so that nobody takes the place of others. */
  readonly causeOf: (item: T) => string;
  readonly handle: (previews: PullRequestPreviews, item: T, signal: AbortSignal) => Promise<void>;
  readonly onError: (source: string, error: unknown) => void;
}

/** The limit of waiting reports. Of a flood some are dropped; each can be requested again. */
const MAX_WAITING = 100;
const MAX_WAITING_OF_ONE = 10;
const MAX_TRIES = 5;

/**
 * Events of a forge that cannot be found by listing: comments, and groups of a merge queue. They are handled one after
 * the other.
 */
export class ReportedWork<T> {
  readonly #options: ReportedWorkOptions<T>;
  readonly #waiting: (readonly [PullRequestPreviews, T])[] = [];
  readonly #wakeUp = new WakeUp();

  constructor(options: ReportedWorkOptions<T>) {
    this.#options = options;
  }

  /** Adds an event. It is dropped if too many wait, or too many of one cause. */
  add(previews: PullRequestPreviews, item: T): void {
    const cause = this.#options.causeOf(item);
    const same = this.#waiting.filter(([, waiting]) => this.#options.causeOf(waiting) === cause);
    if (this.#waiting.length >= MAX_WAITING || same.length >= MAX_WAITING_OF_ONE) return;
    this.#waiting.push([previews, item]);
    this.#wakeUp.call();
  }

  /** Handles the events until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const next = this.#waiting.shift();
      if (next === undefined) await this.#wakeUp.wait(signal);
      else await this.#handle(...next, signal);
    }
  }

  async #handle(previews: PullRequestPreviews, item: T, signal: AbortSignal): Promise<void> {
    const { clock, random, log, what, handle, onError } = this.#options;
    const backoff = new Backoff({ initialMs: 1_000, maxMs: 30_000 }, random);
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        return await handle(previews, item, signal);
      } catch (error) {
        if (signal.aborted) return;
        const { source } = previews;
        log.warn('an event of the forge was not handled', { source, what, attempt, error });
        if (attempt === 1) onError(source, error);
        if (!(error instanceof TransientError) || attempt >= MAX_TRIES) return;
        await sleep(clock, Math.max(error.retryAfterMs ?? 0, backoff.nextMs()), signal);
      }
    }
  }
}
