import type { Reflector } from '@berth/kube/cache/reflector';
import type { Deletion } from '@berth/kube/model/kube-api';
import { apiVersionOf } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { groupVersionOf } from '@berth/kube/model/object-ref';
import type { Clock } from '@berth/runtime/clock/clock';
import { sleep } from '@berth/runtime/loop/sleep';
import type { SourceEvent } from './source-events.ts';

/** How long to wait until a commit is applied to the hub. */
const MAX_FOLLOW_MS = 300_000;
/** How long to wait for the first read of a source. The previous controller may have applied a commit only partly. */
const MAX_FIRST_READ_MS = 60_000;
const POLL_INTERVAL_MS = 50;

interface Wait {
  readonly sinceMs: number;
  readonly forMs: number;
}

/** What the process knows of one kind that decisions are made from. */
export type WrittenInput = Pick<Reflector, 'kind' | 'putWritten' | 'putDeleted' | 'relist'>;

/**
 * Detects that the hub is between two commits. The objects of a commit are applied one by one: a
 * cluster may have its new label while the placement still selects the old one, and decisions from
 * that state belong to neither commit. What the process wrote it knows from the answers.
 */
export class CommitBarrier {
  readonly #clock: Clock;
  readonly #inputs: readonly WrittenInput[];
  /** Sources whose last commit is not completely on the hub. */
  readonly #partial = new Map<string, Wait>();
  readonly #sources: readonly string[];
  readonly #unread: Set<string>;
  /** Sources that have not been compared with the hub since it was restored or replaced. */
  readonly #uncompared = new Set<string>();
  /** Inputs that must be listed: they show the hub from before it was restored or replaced, or lack an own write. */
  readonly #stale = new Map<WrittenInput, Wait>();
  readonly #listeners = new Set<() => void>();
  #standsBy = false;
  #begun = 0;

  /**
   * @param inputs of decisions
   * @param sources those that write to the hub
   */
  constructor(clock: Clock, inputs: readonly WrittenInput[], sources: readonly string[]) {
    this.#clock = clock;
    this.#inputs = inputs;
    this.#sources = sources;
    this.#unread = new Set(sources);
    this.#begin();
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

  /** The hub was replaced, or restored to an older state. No source is completely on it, and no input shows it. */
  hubChanged(): void {
    for (const source of this.#sources) this.#uncompared.add(source);
    this.#begin();
    this.#stale.clear();
    for (const input of this.#inputs) this.#listAgain(input);
  }

  /** The time is not extended while one list follows another, so that the wait ends. */
  #listAgain(input: WrittenInput): void {
    const wait = { ...(this.#stale.get(input) ?? this.#since(MAX_FOLLOW_MS)) };
    this.#stale.set(input, wait);
    void input.relist(new AbortController().signal).then(() => {
      // Otherwise a later list is awaited.
      if (this.#stale.get(input) === wait) this.#done(() => this.#stale.delete(input));
    });
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

  /** @param object as the hub returned it. It can be read at once, before the watch shows it */
  applied(object: KubeObject): void {
    const input = this.#inputOf(object);
    if (input === undefined) return;
    // The versions of another history are not compared, and an object in another version of the API is not kept.
    if (this.#stale.has(input) || apiVersionOf(input.kind) !== object.apiVersion) this.#listAgain(input);
    else input.putWritten(object);
  }

  /** @param object as it was before the deletion */
  deleted(object: KubeObject, answer: Deletion): void {
    if (typeof answer === 'object') return this.applied(answer);
    const input = this.#inputOf(object);
    if (input === undefined) return;
    if (this.#stale.has(input)) this.#listAgain(input);
    else input.putDeleted(object);
  }

  /** Increases when a commit, or a comparison of the hub with Git, begins. */
  get commitsBegun(): number {
    return this.#begun;
  }

  /** Whether the hub, as this process knows it, is between two commits. Always true in a standby. */
  get isCommitPartial(): boolean {
    if (this.#standsBy) return true;
    const nowMs = this.#clock.now();
    const isOver = ({ sinceMs, forMs }: Wait): boolean => Math.abs(nowMs - sinceMs) >= forMs;
    const waited: readonly Map<unknown, Wait>[] = [this.#partial, this.#stale];
    for (const since of waited) for (const [name, one] of since) if (isOver(one)) since.delete(name);
    return waited.some(({ size }) => size > 0);
  }

  /** Calls the listener when the hub is at one commit again. It is not called if the wait only timed out. */
  onCommitsComplete(listener: () => void): void {
    this.#listeners.add(listener);
  }

  #inputOf(object: KubeObject): WrittenInput | undefined {
    const { group } = groupVersionOf(object.apiVersion);
    return this.#inputs.find(({ kind }) => kind.kind === object.kind && kind.group === group);
  }

  #done(forget: () => boolean): void {
    if (forget() && !this.isCommitPartial) for (const listener of this.#listeners) listener();
  }

  #since(forMs: number): Wait {
    return { sinceMs: this.#clock.now(), forMs };
  }
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
