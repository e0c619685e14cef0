import { mayAffectRef } from '@berth/git-reader/repository/git-ref';
import type { GitRef } from '@berth/git-reader/repository/git-repository';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Problem } from '@berth/runtime/problem/problem';
import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import type { HubBreak } from '../../../core/sync/hub-position.ts';
import { Backoff } from '@berth/runtime/loop/backoff';
import type { Leadership } from '@berth/kube/leader-election/leadership';
import { sleep } from '@berth/runtime/loop/sleep';
import type { SourceContent } from '../manifests/source-content.ts';
import type { GitSource } from '../reading/git-source.ts';
import type { ControllerEventBody } from '../../events/controller-events.ts';
import type { HubSync } from './hub-sync.ts';
import type { SourceEvent } from '../progress/source-events.ts';
import type { SyncOptions, SyncOutcome } from '../members/sync-outcome.ts';

export interface GitLoopOptions {
  readonly name: string;
  readonly url: string;
  /** Absent: the default branch of the remote, whose name is unknown. */
  readonly ref?: GitRef | undefined;
  readonly source: GitSource;
  /** Undefined: another tool applies the objects (`sync: observe`). */
  readonly sync: HubSync | undefined;
  /** A process that may not write only reads; the hub follows as soon as it may write. Default: it always may. */
  readonly leadership?: Pick<Leadership, 'isHeld' | 'whenHeld'> | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly emit: (event: ControllerEventBody) => void;
  readonly pollIntervalMs: number;
  /** Interval of full comparisons of the hub with the last commit, which correct manual changes. */
  readonly resyncIntervalMs: number;
  /**
   * Receives the events of the source. A commit is applied after the promise of its `read` event
   * resolves.
   */
  readonly emitSource: (event: SourceEvent) => Promise<void> | void;
  /**
   * Awaited at the start by work that no decision needs: checks of the commit, and the full
   * comparison.
   */
  readonly whenFirstPublished?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** Returns the problems found when reading, and semantic ones (an unknown set, CEL that does not compile). */
  readonly check?: ((content: SourceContent) => Promise<readonly Problem[]>) | undefined;
}

/** State of the source, for `berth status`. */
export interface SourceStatus {
  readonly name: string;
  readonly inProcess: boolean;
  readonly content: SourceContent | undefined;
  readonly outcome: SyncOutcome | undefined;
  readonly lastError: unknown;
  readonly lastSuccessAtMs: number | undefined;
}

const RESTORE_PACE_MS = 2_000;

/**
 * Fetches, reads and syncs, when woken or after the interval. Every failure is reported and
 * retried; meanwhile the hub is kept at the last commit that could be applied.
 */
export class GitLoop {
  readonly #options: GitLoopOptions;
  #content: SourceContent | undefined;
  /** Content that was read, but is not checked yet. */
  #unchecked: SourceContent | undefined;
  #outcome: SyncOutcome | undefined;
  #lastError: unknown;
  #lastSuccessAtMs: number | undefined;
  #comparedAtMs = -Infinity;
  #firstPublished: Promise<void> | undefined;
  #syncedCommit: string | undefined;
  #lastReported = '';
  #wake: AbortController | undefined;
  #triggered = false;
  #comparesRequested = 0;
  #comparesDone = 0;
  #onlyReads = false;
  #hubChanges = 0;
  /** An object must be applied again. */
  #isLost = false;

  constructor(options: GitLoopOptions) {
    this.#options = options;
  }

  get url(): string {
    return this.#options.url;
  }

  status(): SourceStatus {
    return {
      name: this.#options.name,
      inProcess: this.#options.source.inProcess,
      content: this.#content ?? this.#unchecked,
      outcome: this.#outcome,
      lastError: this.#lastError,
      lastSuccessAtMs: this.#lastSuccessAtMs,
    };
  }

  /** Whether a push to a ref (`refs/heads/main`) may change the followed commit. */
  concerns(pushedRef: string): boolean {
    return this.#options.ref === undefined || mayAffectRef(this.#options.ref, pushedRef);
  }

  /** Called for a webhook: fetches now. */
  fetch(): void {
    this.#triggered = true;
    this.#wake?.abort();
  }

  /** Requested by a user: fetches now, and makes a full comparison of the hub with Git. */
  reconcile(): void {
    this.#comparesRequested += 1;
    this.fetch();
  }

  /**
   * Called when an object that Git declares was deleted on the hub: applies it again without fetching.
   * @returns whether this source applies the object
   */
  restore(object: KubeObject): boolean {
    const { sync, leadership } = this.#options;
    if (leadership?.isHeld === false || sync?.declares(object, this.#content?.objects ?? []) !== true)
      return false;
    this.#comparesRequested += 1;
    this.#isLost = true;
    this.#wake?.abort();
    return true;
  }

  /** Called when the hub was restored or replaced: the hub is compared with Git before it counts as following any commit. */
  hubChanged(how: HubBreak): void {
    this.#hubChanges += 1;
    this.#options.sync?.hubChanged(how);
    this.reconcile();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { source, clock, random, log, emit, name, pollIntervalMs } = this.#options;
    const backoff = new Backoff({ initialMs: 1_000, maxMs: 300_000 }, random);
    let reported = '';
    while (!signal.aborted) {
      this.#triggered = false;
      let waitMs = pollIntervalMs * (0.9 + 0.2 * random());
      try {
        await this.#sync(signal)
          .finally(() => this.#emitSource('followed'))
          .finally(() => source.settle());
        this.#lastError = undefined;
        this.#lastSuccessAtMs = clock.now();
        // A new kind of failure resets the back-off.
        if (!this.#retriesSoon || this.#lastReported !== reported) backoff.reset();
        if (this.#retriesSoon) waitMs = Math.min(waitMs, backoff.nextMs());
        reported = this.#lastReported;
      } catch (error) {
        if (signal.aborted) return;
        this.#lastError = error;
        this.#emitSource('failed');
        waitMs = Math.min(waitMs, backoff.nextMs());
        log.warn('source failed', { source: name, error });
        emit({ kind: 'error', where: `source ${name}`, error });
      }
      await this.#wait(waitMs, signal);
      if (this.#isLost) await this.#restoreLost(signal);
    }
  }

  /** Restores deleted objects, rate-limited in case a user or tool deletes them repeatedly. */
  async #restoreLost(signal: AbortSignal): Promise<void> {
    const { clock, log, name } = this.#options;
    await sleep(clock, Math.max(0, this.#comparedAtMs + RESTORE_PACE_MS - clock.now()), signal);
    this.#isLost = false;
    if (this.#content === undefined || signal.aborted) return;
    // If it fails, the next sync tries again.
    await this.#followFleet(this.#content, signal).catch((error: unknown) =>
      log.warn('source failed', { source: name, error }),
    );
  }

  async #sync(signal: AbortSignal): Promise<void> {
    const failure = await this.#fetchAndRead(signal);
    if (this.#content !== undefined && !signal.aborted) await this.#followFleet(this.#content, signal);
    if (failure !== undefined) throw failure.error;
  }

  /**
   * Reads the commit to follow. If that fails, returns the error. The last followed commit is then kept, or read
   * again.
   */
  async #fetchAndRead(signal: AbortSignal): Promise<{ readonly error: unknown } | undefined> {
    const { source } = this.#options;
    try {
      this.#emitSource('fetching');
      const { commit } = await source.fetch({ signal, onObjectsReceived: () => this.#emitSource('fetched') });
      await this.#read(commit, signal);
      return undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      const last = this.#content === undefined ? await source.last() : undefined;
      // If that fails, too, the first error is reported.
      if (last !== undefined) await this.#read(last, signal).catch(() => undefined);
      return { error };
    }
  }

  async #read(commit: string, signal: AbortSignal): Promise<void> {
    if (this.#content?.commit?.id === commit) return;
    const content = await this.#check(await this.#options.source.read(commit), signal);
    if (content !== undefined) this.#content = content;
  }

  async #followFleet(content: SourceContent, signal: AbortSignal): Promise<void> {
    const { sync, clock, resyncIntervalMs, leadership } = this.#options;
    this.#onlyReads = leadership?.isHeld === false;
    if (this.#onlyReads) {
      sync?.claim(content);
      return;
    }
    const commit = content.commit?.id;
    const due = clock.now() - this.#comparedAtMs >= resyncIntervalMs || clock.now() < this.#comparedAtMs;
    const requested = this.#comparesRequested;
    const retry =
      requested !== this.#comparesDone ||
      this.#outcome?.problems.some((problem) => problem.retry) === true ||
      this.#outcome?.pruneHeld !== undefined ||
      this.#outcome?.waits === true;
    if (sync === undefined || (this.#syncedCommit === commit && !due && !retry)) return;
    // A new commit is applied incrementally; full comparisons are made at the interval and on
    // request.
    const isNew = this.#syncedCommit !== commit;
    const compare = due || retry;
    if (!compare || (isNew && sync.isSettled)) await this.#follow(sync, content, { compare: false, signal });
    if (compare) {
      await this.#afterFirstPublication(signal);
      await this.#follow(sync, content, { compare, signal });
    }
    this.#syncedCommit = commit;
    // Reset only after a comparison: with many commits the hub would otherwise never be compared.
    if (!compare) return;
    this.#comparedAtMs = clock.now();
    this.#comparesDone = requested;
  }

  /** The commit with all its problems; undefined if the loop was stopped meanwhile. */
  async #check(read: SourceContent, signal: AbortSignal): Promise<SourceContent | undefined> {
    const { name: source, emit, emitSource, check } = this.#options;
    this.#unchecked = read;
    const kept = emitSource({ kind: 'read', source, content: read });
    await this.#afterFirstPublication(signal);
    if (signal.aborted) return undefined;
    const content = { ...read, problems: (await check?.(read)) ?? read.problems };
    const { commit, objects, files, problems } = content;
    emit({ kind: 'commit-read', source, commit, objects: objects.length, files, problems });
    void emitSource({ kind: 'checked', source, content });
    await kept;
    return content;
  }

  async #afterFirstPublication(signal: AbortSignal): Promise<void> {
    await (this.#firstPublished ??= this.#options.whenFirstPublished?.(signal));
  }

  async #follow(sync: HubSync, content: SourceContent, options: SyncOptions): Promise<void> {
    const hubChanges = this.#hubChanges;
    this.#outcome = await sync.sync(content, options);
    this.#report(this.#outcome);
    // Results from before the hub was restored or replaced are invalid.
    if (hubChanges !== this.#hubChanges) return sync.compareAllNext();
    if (!this.#isPartial) this.#emitSource('complete');
  }

  #emitSource(kind: Exclude<SourceEvent['kind'], 'read' | 'checked' | 'deleted'>): void {
    void this.#options.emitSource({ kind, source: this.#options.name });
  }

  get #isPartial(): boolean {
    const { problems = [], waits = false } = this.#outcome ?? {};
    return waits || problems.some(({ isCommitPartial }) => isCommitPartial === true);
  }

  /**
   * Whether to retry before the next interval: the hub did not respond, or a namespace does not
   * exist yet.
   */
  get #retriesSoon(): boolean {
    return this.#isPartial || this.#missingNamespaces.length > 0;
  }

  get #missingNamespaces(): readonly string[] {
    return (this.#outcome?.problems ?? []).flatMap(({ missingNamespace }) => missingNamespace ?? []);
  }

  #report(outcome: SyncOutcome): void {
    const { emit, name } = this.#options;
    const { applied, pruned, unchanged, problems, pruneHeld, released } = outcome;
    emit({ kind: 'synced', source: name, applied, pruned, unchanged, ...(released && { released }) });
    // The same problems are reported once, not at every sync.
    const sorted = problems.map((problem) => JSON.stringify(problem)).sort();
    const text = JSON.stringify([sorted, pruneHeld]);
    if (text === this.#lastReported) return;
    this.#lastReported = text;
    for (const { object, message, location } of problems)
      emit({ kind: 'sync-problem', source: name, object, message, location });
    const held = { object: `source ${name}`, isHeld: true } as const;
    if (pruneHeld) emit({ kind: 'sync-problem', source: name, ...held, message: pruneHeld.message });
  }

  async #wait(waitMs: number, signal: AbortSignal): Promise<void> {
    if (this.#triggered || this.#isLost || signal.aborted) return;
    const wake = new AbortController();
    this.#wake = wake;
    const stop = (): void => wake.abort();
    signal.addEventListener('abort', stop, { once: true });
    const { clock, leadership, sync } = this.#options;
    const missing = this.#missingNamespaces;
    if (missing.length > 0) void sync?.namespaceArrives(missing, wake.signal).then(stop);
    if (this.#onlyReads) void leadership?.whenHeld(wake.signal).then(stop);
    await sleep(clock, waitMs, wake.signal);
    wake.abort();
    signal.removeEventListener('abort', stop);
    this.#wake = undefined;
  }
}
