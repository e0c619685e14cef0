import { mayAffectRef } from '@berth/git-reader/repository/git-ref';
import type { GitRef } from '@berth/git-reader/repository/git-repository';
import type { Leadership } from '@berth/kube/leader-election/leadership';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import { Backoff } from '@berth/runtime/loop/backoff';
import { sleep } from '@berth/runtime/loop/sleep';
import type { Problem } from '@berth/runtime/problem/problem';
import type { HubBreak } from '../../../core/sync/hub-position.ts';
import type { ControllerEventBody } from '../../events/controller-events.ts';
import type { SourceContent } from '../manifests/source-content.ts';
import type { SourceEvent } from '../progress/source-options.ts';
import type { GitSources } from '../reading/git-source.ts';
import { FollowedSource, type FollowedSourceOptions, type SourceStatus } from './followed-source.ts';
import { syncTogether } from './sync-together.ts';

export interface RepositoryLoopOptions {
  readonly url: string;
  /** Absent: the default branch of the remote, whose name is unknown. */
  readonly ref?: GitRef | undefined;
  readonly repository: Pick<GitSources, 'inProcess' | 'fetch' | 'last' | 'read' | 'settle'>;
  /** In the order in which the repository reads them. */
  readonly sources: readonly FollowedSourceOptions[];
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
   * Receives the events of the sources. A commit is applied after the promises of its `read` events
   * resolve.
   */
  readonly emitSource: (event: SourceEvent) => Promise<void> | void;
  /**
   * Awaited at the start by work that no decision needs: checks of the commit, and the full
   * comparison.
   */
  readonly whenFirstPublished?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** Called after each round, with what is now known of each source. */
  readonly onRound?: ((sources: readonly Omit<SourceStatus, 'inProcess'>[]) => void) | undefined;
  /**
   * Returns for each source the problems found when reading, and semantic ones (an unknown set, CEL that does not
   * compile).
   */
  readonly check?:
    | ((contents: readonly SourceContent[]) => Promise<readonly (readonly Problem[])[]>)
    | undefined;
}

const RESTORE_PACE_MS = 2_000;

/** What failed, by source. Sources that are not in it did not fail. */
type Failures = Map<FollowedSource, unknown>;

/**
 * Follows one ref of one repository with all its sources: fetches, reads every source at the same commit, and makes the hub
 * follow it, when woken or after the interval. Every failure is reported and retried; meanwhile the hub is kept at the last
 * commit that could be applied.
 */
export class RepositoryLoop {
  readonly #options: RepositoryLoopOptions;
  readonly #sources: readonly FollowedSource[];
  #commit: string | undefined;
  #firstPublished: Promise<void> | undefined;
  #wake: AbortController | undefined;
  #triggered = false;
  #onlyReads = false;
  /** An object must be applied again. */
  #isLost = false;

  constructor(options: RepositoryLoopOptions) {
    this.#options = options;
    this.#sources = options.sources.map((source) => new FollowedSource({ ...options, ...source }));
  }

  get url(): string {
    return this.#options.url;
  }

  status(): readonly SourceStatus[] {
    const { inProcess } = this.#options.repository;
    return this.#sources.map((source) => ({ ...source.status(), inProcess }));
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
    for (const source of this.#sources) source.requestComparison();
    this.fetch();
  }

  /**
   * Called when an object that Git declares was deleted on the hub: applies it again without fetching.
   * @returns the source that applies the object; undefined if none does
   */
  restore(object: KubeObject): Omit<SourceStatus, 'inProcess'> | undefined {
    if (this.#options.leadership?.isHeld === false) return undefined;
    const source = this.#sources.find((one) => one.declares(object));
    if (source === undefined) return undefined;
    source.requestComparison();
    this.#isLost = true;
    this.#wake?.abort();
    return source.status();
  }

  /** Called when the hub was restored or replaced: the hub is compared with Git before it counts as following any commit. */
  hubChanged(how: HubBreak): void {
    for (const source of this.#sources) source.hubChanged(how);
    this.fetch();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { random, pollIntervalMs } = this.#options;
    const backoff = new Backoff({ initialMs: 1_000, maxMs: 300_000 }, random);
    let reported = '';
    while (!signal.aborted) {
      this.#triggered = false;
      const failures = await this.#round(signal);
      if (signal.aborted) return;
      this.#report(failures);
      this.#options.onRound?.(this.#sources.map((source) => source.status()));
      let waitMs = pollIntervalMs * (0.9 + 0.2 * random());
      if (failures.size > 0) waitMs = Math.min(waitMs, backoff.nextMs());
      else {
        const problems = this.#sources.map((source) => source.reported).join();
        const retriesSoon = this.#sources.some((source) => source.retriesSoon);
        // A new kind of failure resets the back-off.
        if (!retriesSoon || problems !== reported) backoff.reset();
        if (retriesSoon) waitMs = Math.min(waitMs, backoff.nextMs());
        reported = problems;
      }
      await this.#wait(waitMs, signal);
      if (this.#isLost) await this.#restoreLost(signal);
    }
  }

  #report(failures: Failures): void {
    for (const source of this.#sources) {
      if (!failures.has(source)) source.succeeded();
      else {
        const error = failures.get(source);
        this.#options.log.warn('source failed', { source: source.name, error });
        source.failed(error);
      }
    }
  }

  /** Restores deleted objects, rate-limited in case a user or tool deletes them repeatedly. */
  async #restoreLost(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const comparedAtMs = Math.max(...this.#sources.map((source) => source.comparedAtMs));
    await sleep(clock, Math.max(0, comparedAtMs + RESTORE_PACE_MS - clock.now()), signal);
    this.#isLost = false;
    if (signal.aborted) return;
    // If it fails, the next round tries again.
    for (const [{ name }, error] of await this.#follow(signal))
      log.warn('source failed', { source: name, error });
  }

  async #round(signal: AbortSignal): Promise<Failures> {
    const { repository } = this.#options;
    let failures: Failures = new Map();
    try {
      const failure = await this.#fetchAndRead(signal);
      if (!signal.aborted) failures = await this.#follow(signal);
      if (failure !== undefined) failures = this.#allFailed(failure.error);
    } catch (error) {
      failures = this.#allFailed(error);
    }
    for (const source of this.#sources) source.tell('followed');
    return repository.settle().then(
      () => failures,
      (error: unknown) => (failures.size > 0 ? failures : this.#allFailed(error)),
    );
  }

  #allFailed(error: unknown): Failures {
    return new Map(this.#sources.map((source) => [source, error]));
  }

  /**
   * Reads the commit to follow. If that fails, returns the error. The last followed commit is then kept, or read
   * again.
   */
  async #fetchAndRead(signal: AbortSignal): Promise<{ readonly error: unknown } | undefined> {
    const { repository } = this.#options;
    const onObjectsReceived = (): void => {
      for (const source of this.#sources) source.tell('fetched');
    };
    try {
      for (const source of this.#sources) source.tell('fetching');
      const { commit } = await repository.fetch({ signal, onObjectsReceived });
      await this.#read(commit, signal);
      return undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      for (const source of this.#sources) source.unread(error);
      const last = this.#commit === undefined ? await repository.last() : undefined;
      // If that fails, too, the first error is reported.
      if (last !== undefined) await this.#read(last, signal).catch(() => undefined);
      return { error };
    }
  }

  /** Reads every source at the commit, and checks them together. */
  async #read(commit: string, signal: AbortSignal): Promise<void> {
    if (this.#commit === commit) return;
    const { repository, check } = this.#options;
    const contents = await repository.read(commit);
    const isKept = Promise.all(this.#sources.map((source, at) => source.read(contentAt(contents, at))));
    await this.#afterFirstPublication(signal);
    if (signal.aborted) return;
    const problems = await check?.(contents);
    for (const [at, source] of this.#sources.entries()) {
      const content = contentAt(contents, at);
      source.checked({ ...content, problems: problems?.[at] ?? content.problems });
    }
    this.#commit = commit;
    await isKept;
  }

  async #afterFirstPublication(signal: AbortSignal): Promise<void> {
    await (this.#firstPublished ??= this.#options.whenFirstPublished?.(signal));
  }

  /** Makes the hub follow the commit: a new one is applied incrementally; then what is due is compared completely. */
  async #follow(signal: AbortSignal): Promise<Failures> {
    const failures: Failures = new Map();
    this.#onlyReads = this.#options.leadership?.isHeld === false;
    // Before the first write: an object may leave one of the sources and appear in another.
    for (const source of this.#sources) source.declare();
    if (this.#onlyReads) return failures;
    const compared = this.#sources.filter((source) => source.mustCompare);
    const changed = this.#sources.filter((source) => source.canFollow);
    if (changed.length > 0) await this.#sync(changed, { compare: false, signal, failures });
    if (compared.length === 0) return failures;
    await this.#afterFirstPublication(signal);
    const left = compared.filter((source) => !failures.has(source));
    await this.#sync(left, { compare: true, signal, failures });
    return failures;
  }

  async #sync(
    sources: readonly FollowedSource[],
    options: { readonly compare: boolean; readonly signal: AbortSignal; readonly failures: Failures },
  ): Promise<void> {
    const { compare, signal, failures } = options;
    for (const source of sources) source.tell('following');
    const begun = await Promise.all(
      sources.map((source) =>
        source.begin(compare, signal).catch((error: unknown) => void failures.set(source, error)),
      ),
    );
    const ends = await syncTogether(begun.flatMap((one) => (one === undefined ? [] : one.round)));
    for (const [at, source] of sources.entries()) {
      const end = ends.get(source.name);
      if (end === undefined) continue;
      if ('error' in end) failures.set(source, end.error);
      begun[at]?.end(end);
    }
  }

  async #wait(waitMs: number, signal: AbortSignal): Promise<void> {
    if (this.#triggered || this.#isLost || signal.aborted) return;
    const wake = new AbortController();
    this.#wake = wake;
    const stop = (): void => wake.abort();
    signal.addEventListener('abort', stop, { once: true });
    const { clock, leadership } = this.#options;
    for (const source of this.#sources) void source.namespaceArrives(wake.signal)?.then(stop);
    if (this.#onlyReads) void leadership?.whenHeld(wake.signal).then(stop);
    await sleep(clock, waitMs, wake.signal);
    wake.abort();
    signal.removeEventListener('abort', stop);
    this.#wake = undefined;
  }
}

function contentAt(contents: readonly SourceContent[], at: number): SourceContent {
  const content = contents[at];
  if (content === undefined) throw new Error('the repository did not read every source');
  return content;
}
