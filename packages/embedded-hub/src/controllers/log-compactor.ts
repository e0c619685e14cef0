import type { Cluster } from '../request/cluster.ts';
import type { ReconcileLoop } from '@berth/runtime/loop/reconcile-loop';
import { controllerLoop } from './controller-loop.ts';
import type { HubController } from './hub-controller.ts';

const SEGMENT_LIMIT_BYTES = 64 * 1024 * 1024;
const MAX_MS = 3_600_000;
const CHECK_EVERY_MS = 5_000;
/** How many bytes could be lost from the end of the log without being noticed at a start. */
const CHECKPOINT_BYTES = 1024 * 1024;
const CHECKPOINT_MS = 60_000;

/** Snapshots the store every 64 MiB of log, and every hour in which anything was written; checkpoints the log in between. */
export class LogCompactor implements HubController {
  readonly #cluster: Cluster;
  readonly #loop: ReconcileLoop;
  #lastMs: number;
  #lastRv: number;
  #checkpoint: { readonly atMs: number; readonly bytes: number };

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#lastMs = cluster.clock.now();
    this.#lastRv = cluster.store.rv;
    this.#checkpoint = { atMs: this.#lastMs, bytes: cluster.store.logBytes };
    this.#loop = controllerLoop('compaction', () => this.#check(), cluster);
  }

  start(): void {
    this.#loop.add('check');
  }

  stop(): Promise<void> {
    return this.#loop.close();
  }

  async #check(): Promise<void> {
    const { store, clock } = this.#cluster;
    // A clock that jumps back must not delay compaction.
    const ageMs = Math.abs(clock.now() - this.#lastMs);
    const due = store.logBytes >= SEGMENT_LIMIT_BYTES || (ageMs >= MAX_MS && store.rv !== this.#lastRv);
    if (due) {
      this.#lastMs = clock.now();
      this.#lastRv = store.rv;
      await store.compact();
    }
    const { atMs, bytes } = this.#checkpoint;
    const grown = Math.abs(store.logBytes - bytes) >= CHECKPOINT_BYTES;
    if (grown || Math.abs(clock.now() - atMs) >= CHECKPOINT_MS) {
      this.#checkpoint = { atMs: clock.now(), bytes: store.logBytes };
      await store.checkpoint();
    }
    this.#loop.addAfter('check', CHECK_EVERY_MS);
  }
}
