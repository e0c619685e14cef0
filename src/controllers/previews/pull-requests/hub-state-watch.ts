import type { Clock } from '../../../core/ports.ts';
import { snapshotDigests } from '../../../core/preview/sides/snapshot-digests.ts';
import type { Snapshot } from '../../../core/snapshot/snapshot.ts';
import { sha256 } from '../../../runtime/sha256.ts';

/** What happens together is looked at together. */
const GATHER_MS = 10_000;
/** Naming the state of a large hub takes a moment, and each plan that is made again takes more. */
const PACE_MS = 60_000;

export interface HubStateWatchOptions {
  readonly clock: Clock;
  readonly snapshot: () => Snapshot;
  /** What plans are made on is another. */
  readonly onChange: () => void;
}

/**
 * Tells when the hub's clusters, sets, scores and published decisions are not those that were planned on. Heartbeats and the like do not
 * count.
 */
export class HubStateWatch {
  readonly #options: HubStateWatchOptions;
  #cancel: (() => void) | undefined;
  #lookedAtMs = -Infinity;
  #state: string | undefined;
  #closed = false;

  constructor(options: HubStateWatchOptions) {
    this.#options = options;
  }

  /** Names the state as it is now. */
  now(): string {
    const { inventory, decisions } = snapshotDigests(this.#options.snapshot(), sha256);
    return (this.#state = `${inventory} ${decisions}`);
  }

  /** An object of the hub changed. */
  objectChanged(): void {
    if (this.#closed || this.#cancel !== undefined || this.#state === undefined) return;
    const { clock } = this.#options;
    const waitMs = Math.max(GATHER_MS, this.#lookedAtMs + PACE_MS - clock.now());
    this.#cancel = clock.schedule(Math.min(waitMs, PACE_MS), () => this.#look());
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
  }

  #look(): void {
    this.#cancel = undefined;
    this.#lookedAtMs = this.#options.clock.now();
    const before = this.#state;
    if (this.now() !== before) this.#options.onChange();
  }
}
