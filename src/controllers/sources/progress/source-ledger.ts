import type { CommitInfo } from '@berth/git-reader/repository/git-repository';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Clock } from '@berth/runtime/clock/clock';
import { sleep } from '@berth/runtime/loop/sleep';
import type { Digest } from '../../../core/publish/approval/approval-code.ts';
import { DEFAULT_REMOVAL_BUDGET, type RemovalBudget } from '../../../core/publish/judge/removal-budget.ts';
import { APPLY_SET_PART_OF_LABEL, applySetId, parentOfSource } from '../../../core/sync/apply-set.ts';
import type { SourceContent } from '../manifests/source-content.ts';
import { type ServeSource, type SourceEvent, sourceNameOf } from './source-options.ts';

/** A commit and the time when it was read. Plain JSON. */
export interface ReadCommit extends CommitInfo {
  readonly readAtMs: number;
}

/** By the name of the source. */
export interface CommitsStore {
  get(source: string): ReadCommit | undefined;
  /** Resolves when the commit is durable. */
  persist(source: string, commit: ReadCommit): Promise<void>;
}

export interface SourceLedgerOptions {
  readonly sources: readonly ServeSource[];
  /** Namespace of the ApplySet parents. */
  readonly namespace?: string | undefined;
  /** Default removal budget of sources. */
  readonly budget?: RemovalBudget | undefined;
  readonly clock: Clock;
}

/** What each source provides for its objects: the commit that was last read, and the removal budget. */
export class SourceLedger {
  readonly #sources = new Map<string, { readonly name: string; readonly budget: RemovalBudget }>();
  readonly #commits = new Map<string, CommitInfo | undefined>();
  readonly #budget: RemovalBudget;
  readonly #store: CommitsStore;
  readonly #clock: Clock;
  readonly firstReads: FirstReads;
  #newest: CommitInfo | undefined;
  #newestAtMs = -Infinity;

  constructor(digest: Digest, store: CommitsStore, options: SourceLedgerOptions) {
    const { sources, namespace, budget = DEFAULT_REMOVAL_BUDGET } = options;
    this.#budget = budget;
    this.#store = store;
    this.#clock = options.clock;
    this.firstReads = new FirstReads(options.clock, sources.map(sourceNameOf));
    for (const source of sources) {
      const name = sourceNameOf(source);
      const id = applySetId(digest, parentOfSource(name, namespace));
      this.#sources.set(id, { name, budget: source.budget ?? budget });
      this.#loadCommit(name);
    }
  }

  /** @returns resolves when the commit is stored, so that the next process knows it */
  async handle(event: SourceEvent): Promise<void> {
    if (event.kind === 'read') return this.#read(event.source, event.content);
    if (event.kind === 'failed') this.firstReads.attempted(event.source);
  }

  async #read(source: string, { commit }: Pick<SourceContent, 'commit'>): Promise<void> {
    this.#commits.set(source, commit);
    this.#newest = commit;
    this.firstReads.attempted(source);
    if (commit === undefined) return;
    // A full disk stops nothing. The commit is written when that is possible again.
    await this.#store.persist(source, { ...commit, readAtMs: this.#clock.now() }).catch(() => undefined);
  }

  /**
   * The commit of the object's source. For an object that Berth did not apply (`sync: observe`), the commit that was
   * last read.
   */
  lastCommitOf(object: Pick<KubeObject, 'metadata'>): CommitInfo | undefined {
    const source = this.#sourceOf(object);
    return source === undefined ? this.#newest : this.#commits.get(source.name);
  }

  /** The id of the commit at which the object's source was last read; '' without a source, or while it is unknown. */
  sourceCommitOf(object: Pick<KubeObject, 'metadata'>): string {
    const source = this.#sourceOf(object);
    return (source && this.#commits.get(source.name)?.id) ?? '';
  }

  budgetOf(object: Pick<KubeObject, 'metadata'>): RemovalBudget {
    return this.#sourceOf(object)?.budget ?? this.#budget;
  }

  /** Loads the commit that the previous process had read. The hub may be ahead of it until the source is read again. */
  #loadCommit(source: string): void {
    const known = this.#store.get(source);
    if (known === undefined) return;
    this.#commits.set(source, known);
    if (known.readAtMs > this.#newestAtMs) [this.#newest, this.#newestAtMs] = [known, known.readAtMs];
  }

  #sourceOf({ metadata }: Pick<KubeObject, 'metadata'>) {
    return this.#sources.get(metadata.labels?.[APPLY_SET_PART_OF_LABEL] ?? '');
  }
}

/**
 * The sources that have not been attempted since the start. Decisions that need all of them wait here, for a limited
 * time.
 */
export class FirstReads {
  readonly #clock: Clock;
  readonly #unread: Set<string>;
  readonly #wakes = new Set<() => void>();

  constructor(clock: Clock, sources: readonly string[]) {
    this.#clock = clock;
    this.#unread = new Set(sources);
  }

  /** The source was read or could not be read, so nothing waits for it any more. */
  attempted(source: string): void {
    this.#unread.delete(source);
    if (this.#unread.size > 0) return;
    for (const wake of this.#wakes) wake();
    this.#wakes.clear();
  }

  get waitingFor(): readonly string[] {
    return [...this.#unread];
  }

  /** Resolves when every source was read or failed, after the time limit, or when aborted. */
  async whenOver(patienceMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#unread.size === 0 || signal?.aborted === true) return;
    const done = new AbortController();
    const wake = (): void => done.abort();
    this.#wakes.add(wake);
    signal?.addEventListener('abort', wake, { once: true });
    await sleep(this.#clock, patienceMs, done.signal);
    signal?.removeEventListener('abort', wake);
    this.#wakes.delete(wake);
  }
}
