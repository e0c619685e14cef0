import { WakeUp } from '@berth/runtime/loop/sleep';
import type { Clock } from '@berth/runtime/clock/clock';

/** A queued pull request: the repository (named by its source) and its number. */
export interface QueuedPullRequest {
  readonly source: string;
  readonly number: number;
}

interface ActiveWork {
  readonly stop: AbortController;
  again: boolean;
}

/** The limit of one repository. Berth finds a dropped pull request again when it lists the open ones. */
const MAX_WAITING = 1_000;

/**
 * Pull requests to plan. When a pull request gets a new head, the work on its older head stops and it is queued again.
 * Repositories take turns, so that one with many pull requests does not delay the others. Each pull request is queued
 * at most once.
 */
export class PreviewQueue {
  readonly #clock: Clock;
  readonly #wakeUp: WakeUp[];
  /** By source, in the order of the turns. */
  readonly #waiting = new Map<string, Set<number>>();
  readonly #active = new Map<string, ActiveWork>();
  readonly #delayed = new Map<string, () => void>();

  /** @param workers how many pull requests are handled at the same time */
  constructor(clock: Clock, workers: number) {
    this.#clock = clock;
    this.#wakeUp = Array.from({ length: workers }, () => new WakeUp());
  }

  /** @param isNewer the current work on this pull request is outdated and must stop */
  add({ source, number }: QueuedPullRequest, isNewer: boolean): void {
    const key = keyOf({ source, number });
    this.#delayed.get(key)?.();
    this.#delayed.delete(key);
    const active = this.#active.get(key);
    if (active !== undefined) {
      active.again = true;
      if (isNewer) active.stop.abort();
      return;
    }
    const waiting = this.#waiting.get(source) ?? new Set();
    this.#waiting.set(source, waiting);
    if (waiting.size < MAX_WAITING) waiting.add(number);
    for (const one of this.#wakeUp) one.call();
  }

  addAfter(pullRequest: QueuedPullRequest, delayMs: number): void {
    const key = keyOf(pullRequest);
    if (this.#delayed.has(key)) return;
    const cancel = this.#clock.schedule(delayMs, () => {
      this.#delayed.delete(key);
      this.add(pullRequest, false);
    });
    this.#delayed.set(key, cancel);
  }

  /** Works until the signal aborts. `work` never rejects. Its signal aborts when its result would be outdated. */
  async run(
    work: (pullRequest: QueuedPullRequest, signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    await Promise.all(this.#wakeUp.map((wakeUp) => this.#runOne(wakeUp, work, signal)));
    for (const cancel of this.#delayed.values()) cancel();
    this.#delayed.clear();
  }

  async #runOne(
    wakeUp: WakeUp,
    work: (pullRequest: QueuedPullRequest, signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    while (!signal.aborted) {
      const next = this.#take();
      if (next === undefined) {
        await wakeUp.wait(signal);
        continue;
      }
      const active: ActiveWork = { stop: new AbortController(), again: false };
      this.#active.set(keyOf(next), active);
      try {
        await work(next, AbortSignal.any([signal, active.stop.signal]));
      } finally {
        this.#active.delete(keyOf(next));
      }
      if (active.again) this.add(next, false);
    }
  }

  /** Takes the first pull request of the repository whose turn it is. The repository then moves to the end. */
  #take(): QueuedPullRequest | undefined {
    for (const [source, waiting] of this.#waiting) {
      this.#waiting.delete(source);
      const [number] = waiting;
      if (number === undefined) continue;
      waiting.delete(number);
      this.#waiting.set(source, waiting);
      return { source, number };
    }
    return undefined;
  }
}

function keyOf({ source, number }: QueuedPullRequest): string {
  return `${source}#${number}`;
}
