import type { Clock } from '@berth/runtime/clock/clock';
import { snapshotDigests } from '../../../core/preview/sides/snapshot-digests.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { sha256 } from '@berth/runtime/sha256';

/** Changes within this time are handled together. */
const GATHER_MS = 10_000;
/** Computing the digest of a large hub is slow, and each new plan is slower, so there is a pause between two. */
const PACE_MS = 60_000;

/** The lists that the digest is made of. */
const DIGESTED = ['clusters', 'clusterSets', 'bindings', 'scores', 'decisions'] as const;

export interface HubStateWatchOptions {
  readonly clock: Clock;
  readonly snapshot: () => Snapshot;
  /** Called when the state that plans are made on has changed. */
  readonly onChange: () => void;
}

/**
 * Notices when the clusters, sets, scores or published decisions of the hub differ from those that plans were made on.
 * Heartbeats and similar updates do not count.
 */
export class HubStateWatch {
  readonly #options: HubStateWatchOptions;
  #cancel: (() => void) | undefined;
  #checkedAtMs = -Infinity;
  #state: string | undefined;
  #digested: Pick<Snapshot, (typeof DIGESTED)[number]> | undefined;
  #closed = false;

  constructor(options: HubStateWatchOptions) {
    this.#options = options;
  }

  /** The digest of the current state. */
  now(): string {
    const snapshot = this.#options.snapshot();
    const last = this.#digested;
    // A list is the same one while nothing changes.
    if (this.#state !== undefined && DIGESTED.every((name) => last?.[name] === snapshot[name]))
      return this.#state;
    this.#digested = snapshot;
    const { inventory, decisions } = snapshotDigests(snapshot, sha256);
    return (this.#state = `${inventory} ${decisions}`);
  }

  /** Called when an object of the hub changed. */
  objectChanged(): void {
    if (this.#closed || this.#cancel !== undefined || this.#state === undefined) return;
    const { clock } = this.#options;
    const waitMs = Math.max(GATHER_MS, this.#checkedAtMs + PACE_MS - clock.now());
    this.#cancel = clock.schedule(Math.min(waitMs, PACE_MS), () => this.#check());
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
  }

  #check(): void {
    this.#cancel = undefined;
    this.#checkedAtMs = this.#options.clock.now();
    const before = this.#state;
    if (this.now() !== before) this.#options.onChange();
  }
}
