import type { Cluster } from '../rest/cluster.ts';
import { KeyQueue } from './key-queue.ts';
import type { HubController } from './hub-controller.ts';

const SEGMENT_LIMIT_BYTES = 64 * 1024 * 1024;
const LONGEST_MS = 3_600_000;
const CHECK_EVERY_MS = 5_000;

/** Snapshots the store every 64 MiB of log, and every hour in which anything was written. */
export class LogCompactor implements HubController {
  readonly #cluster: Cluster;
  readonly #queue: KeyQueue;
  #lastMs: number;
  #lastRv: number;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#lastMs = cluster.clock.now();
    this.#lastRv = cluster.store.rv;
    this.#queue = new KeyQueue('compaction', () => this.#check(), cluster);
  }

  start(): void {
    this.#queue.add('check');
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  async #check(): Promise<void> {
    const { store, clock } = this.#cluster;
    // A clock that jumps back must not put compaction off for ever.
    const ageMs = Math.abs(clock.now() - this.#lastMs);
    const due = store.logBytes >= SEGMENT_LIMIT_BYTES || (ageMs >= LONGEST_MS && store.rv !== this.#lastRv);
    if (due) {
      this.#lastMs = clock.now();
      this.#lastRv = store.rv;
      await store.compact();
    }
    this.#queue.addLater('check', CHECK_EVERY_MS);
  }
}
