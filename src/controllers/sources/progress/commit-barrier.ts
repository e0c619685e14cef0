import type { ObjectStore } from '@berth/kube/cache/object-store';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { hasReachedVersion } from '@berth/kube/model/resource-version';
import type { Clock } from '@berth/runtime/clock/clock';
import { sleep } from '@berth/runtime/loop/sleep';
import type { SourceEvent } from './source-options.ts';

/** How long to wait until a commit is applied to the hub. */
const MAX_FOLLOW_MS = 300_000;
/** How long to wait for the first read of a source. The previous controller may have applied a commit only partly. */
const MAX_FIRST_READ_MS = 60_000;
/** How long to wait until the watch shows a write. A later write may have replaced it. */
const MAX_LAG_MS = 60_000;
const POLL_INTERVAL_MS = 50;

interface Wait {
  readonly sinceMs: number;
  readonly forMs: number;
}

interface Unseen extends Wait {
  readonly kind: string;
  readonly key: string;
  readonly isSeen: (now: KubeObject | undefined) => boolean;
}

/**
 * Detects that the hub, as the watches show it, is between two commits. The objects of a commit
 * arrive one by one: a cluster may have its new label while the placement still selects the old
 * one, and decisions from that state belong to neither commit.
 */
export class CommitBarrier {
  readonly #clock: Clock;
  readonly #stores: ReadonlyMap<string, ObjectStore>;
  /** Sources whose last commit is not completely on the hub. */
  readonly #partial = new Map<string, Wait>();
  readonly #sources: readonly string[];
  readonly #unread: Set<string>;
  /** Sources that have not been compared with the hub since it was restored or replaced. */
  readonly #uncompared = new Set<string>();
  /** Writes to the hub that the watch has not shown yet. */
  readonly #unseen = new Map<string, Unseen>();
  /** Kinds whose stores still show the hub from before it was restored or replaced. */
  readonly #stale = new Map<string, Wait>();
  readonly #listeners = new Set<() => void>();
  #standsBy = false;
  #begun = 0;

  /**
   * @param stores the inputs of decisions, by kind
   * @param sources those that write to the hub
   */
  constructor(clock: Clock, stores: ReadonlyMap<string, ObjectStore>, sources: readonly string[]) {
    this.#clock = clock;
    this.#stores = stores;
    this.#sources = sources;
    this.#unread = new Set(sources);
    this.#begin();
    for (const [kind, store] of stores)
      store.onChange(({ key, after }) => {
        const id = `${kind} ${key}`;
        if (this.#stale.has(kind) || this.#unseen.get(id)?.isSeen(after) !== true) return;
        this.#done(() => this.#unseen.delete(id));
      });
  }

  /** Called when another process leads. It writes to the hub, so it is unknown which part of a commit is applied. */
  beginStandby(): void {
    this.#standsBy = true;
  }

  /**
   * Called when this process becomes the leader; the previous one may have applied part of a
   * commit.
   */
  takeOver(): void {
    this.#standsBy = false;
    this.#begin();
  }

  #begin(): void {
    this.#begun += 1;
    for (const source of this.#sources) {
      // After a restore or replacement, the hub is compared with every source before it counts as
      // complete.
      const waitsForReadOnly = this.#unread.has(source) && !this.#uncompared.has(source);
      this.#partial.set(source, this.#since(waitsForReadOnly ? MAX_FIRST_READ_MS : MAX_FOLLOW_MS));
    }
  }

  /** Follows the sources that write to the hub. Writes of other programs cannot be awaited. */
  handle({ kind, source }: Pick<SourceEvent, 'kind' | 'source'>): void {
    if (!this.#sources.includes(source)) return;
    if (kind === 'read') this.#read(source);
    else if (kind === 'complete') this.#followed(source);
  }

  /** A new commit was read, and nothing of it is on the hub yet. */
  #read(source: string): void {
    this.#begun += 1;
    const isFirst = this.#unread.delete(source);
    // The time is not extended while commits follow each other without becoming complete, so that the wait ends.
    if (isFirst || !this.#partial.has(source)) this.#partial.set(source, this.#since(MAX_FOLLOW_MS));
  }

  /**
   * The hub was replaced, or restored to an older state. No source is completely on it, and writes that were awaited
   * will not be shown.
   * @param lists by kind: resolves when the store shows the present state of the hub
   */
  hubChanged(lists: ReadonlyMap<string, Promise<void>> = new Map()): void {
    for (const source of this.#sources) this.#uncompared.add(source);
    this.#begin();
    this.#unseen.clear();
    for (const [kind, list] of lists) {
      const since = this.#since(MAX_FOLLOW_MS);
      this.#stale.set(kind, since);
      void list.then(() => {
        // Otherwise the hub changed again meanwhile.
        if (this.#stale.get(kind) === since) this.#done(() => this.#listed(kind));
      });
    }
  }

  #listed(kind: string): boolean {
    for (const [id, write] of this.#unseen)
      if (write.kind === kind && write.isSeen(this.#stores.get(kind)?.get(write.key)))
        this.#unseen.delete(id);
    return this.#stale.delete(kind);
  }

  /** False after `hubChanged`, until the hub follows all sources or the wait takes too long. */
  get isHubCompared(): boolean {
    // Also drops entries that took too long.
    if (!this.isCommitPartial) this.#uncompared.clear();
    return this.#uncompared.size + this.#stale.size === 0;
  }

  /**
   * Resolves when the hub is compared and shows complete commits, or when aborted. It polls,
   * because no event reports a timeout.
   */
  async whenCommitsComplete(signal: AbortSignal): Promise<void> {
    while (this.isCommitPartial && !signal.aborted) await sleep(this.#clock, POLL_INTERVAL_MS, signal);
  }

  /** The hub follows the commit completely, except for objects that it refuses permanently. */
  #followed(source: string): void {
    this.#uncompared.delete(source);
    this.#done(() => this.#partial.delete(source));
  }

  /** @param object as the hub returned it */
  applied(object: KubeObject): void {
    const version = object.metadata.resourceVersion ?? '';
    this.#await(object, (now) => now !== undefined && isShown(now, version));
  }

  /** @param object as it was before the deletion */
  deleted(object: KubeObject): void {
    const { uid } = object.metadata;
    this.#await(object, (now) => now?.metadata.uid !== uid || now?.metadata.deletionTimestamp !== undefined);
  }

  /** Increases when a commit, or a comparison of the hub with Git, begins. */
  get commitsBegun(): number {
    return this.#begun;
  }

  /** Whether the hub, as the watches show it, is between two commits. Always true in a standby. */
  get isCommitPartial(): boolean {
    if (this.#standsBy) return true;
    const nowMs = this.#clock.now();
    const isOver = ({ sinceMs, forMs }: Wait): boolean => Math.abs(nowMs - sinceMs) >= forMs;
    const waited: readonly Map<string, Wait>[] = [this.#partial, this.#unseen, this.#stale];
    for (const since of waited) for (const [name, one] of since) if (isOver(one)) since.delete(name);
    return waited.some(({ size }) => size > 0);
  }

  /** Calls the listener when the hub is at one commit again. It is not called if the wait only timed out. */
  onCommitsComplete(listener: () => void): void {
    this.#listeners.add(listener);
  }

  #await({ kind, metadata }: KubeObject, isSeen: Unseen['isSeen']): void {
    const store = this.#stores.get(kind);
    if (store === undefined) return;
    const key = namespacedName(metadata);
    if (this.#stale.has(kind) || !isSeen(store.get(key)))
      this.#unseen.set(`${kind} ${key}`, { ...this.#since(MAX_LAG_MS), kind, key, isSeen });
  }

  #done(forget: () => boolean): void {
    if (forget() && !this.isCommitPartial) for (const listener of this.#listeners) listener();
  }

  #since(forMs: number): Wait {
    return { sinceMs: this.#clock.now(), forMs };
  }
}

function isShown({ metadata: { resourceVersion = '' } }: KubeObject, version: string): boolean {
  return hasReachedVersion(resourceVersion, version);
}

/**
 * Whether a commit is being applied to the hub, as the sources report. Its changes are then decided
 * first.
 */
export class CommitsInProgress {
  readonly #sources = new Set<string>();

  handle({ kind, source }: Pick<SourceEvent, 'kind' | 'source'>): void {
    if (kind === 'fetched' || kind === 'read') this.#sources.add(source);
    else if (kind === 'followed') this.#sources.delete(source);
  }

  get areAny(): boolean {
    return this.#sources.size > 0;
  }
}
