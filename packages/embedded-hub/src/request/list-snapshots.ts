import type { Clock } from '@berth/runtime/clock/clock';
import type { StoredObject } from '../store/stored-object.ts';

const KEPT_MS = 5 * 60_000;
const KEPT_SNAPSHOTS = 200;

interface Snapshot {
  readonly entries: readonly StoredObject[];
  readonly expiresAtMs: number;
}

/**
 * Snapshots of lists that clients read part by part. Entries are immutable, so a snapshot costs one
 * pointer per object. A request for a part of an expired snapshot gets 410, as from a real API
 * server after compaction.
 */
export class ListSnapshots {
  readonly #clock: Clock;
  readonly #snapshots = new Map<string, Snapshot>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  keep(key: string, entries: readonly StoredObject[]): void {
    this.#dropExpired();
    this.#snapshots.delete(key);
    this.#snapshots.set(key, { entries, expiresAtMs: this.#clock.now() + KEPT_MS });
    const oldest = this.#snapshots.keys().next();
    if (this.#snapshots.size > KEPT_SNAPSHOTS && oldest.done !== true) this.#snapshots.delete(oldest.value);
  }

  find(key: string): readonly StoredObject[] | undefined {
    this.#dropExpired();
    return this.#snapshots.get(key)?.entries;
  }

  #dropExpired(): void {
    const nowMs = this.#clock.now();
    for (const [key, snapshot] of this.#snapshots)
      if (snapshot.expiresAtMs <= nowMs) this.#snapshots.delete(key);
  }
}
