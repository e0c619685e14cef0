import type { Clock } from '@berth/runtime/clock/clock';
import { TransientError } from '@berth/runtime/errors';
import { OpenTrace, type TraceAttributes, type TraceSink } from '@berth/runtime/open-trace';
import type { CommitStage, StagedCommit } from './commit-stages.ts';
import type { SourceEvent } from './source-options.ts';

export interface CommitTracesOptions {
  readonly clock: Clock;
  readonly sink: TraceSink;
  /** The repositories of the sources that write to the hub, without credentials. */
  readonly urls: ReadonlyMap<string, string>;
  readonly mayWrite: () => boolean;
}

const NAME = 'follow commit';
/** After the key has been reached, this is done. */
const NEXT = { followed: 'decide', decided: 'publish pages', published: 'write works' } as const;

interface Round {
  readonly beganAtMs: number;
  fetchedAtMs: number | undefined;
}

interface Open {
  readonly commit: StagedCommit;
  /** Undefined between a failure and the next round. */
  trace: OpenTrace | undefined;
  isFollowed: boolean;
}

/**
 * One trace per try to follow a commit: fetch, read, write objects, decide, publish pages, write works. A round that fails ends
 * the trace with its error, and the next round begins another one. Works count until the last is written, not until agents apply
 * them.
 */
export class CommitTraces {
  readonly #options: CommitTracesOptions;
  readonly #rounds = new Map<string, Round>();
  readonly #open = new Map<string, Open>();
  /** Errors that a trace has said. Those of a repository concern all of its sources. */
  readonly #told = new WeakSet<object>();

  constructor(options: CommitTracesOptions) {
    this.#options = options;
  }

  /** Follows the sources. */
  handle(event: SourceEvent): void {
    const { kind, source } = event;
    if (!this.#options.urls.has(source) || !this.#options.mayWrite()) return;
    const nowMs = this.#options.clock.now();
    if (kind === 'fetching') this.#roundBegins(source, nowMs);
    else if (kind === 'fetched') this.#noteFetched(source, nowMs);
    else if (kind === 'following')
      for (const { trace } of this.#unfollowed(source)) {
        if (trace !== undefined && trace.step !== 'write objects') trace.begin('write objects', nowMs);
      }
    else if (kind === 'unread') this.#unread(source, event.error, nowMs);
    else if (kind === 'failed' && !this.#isTold(event.error))
      for (const open of this.#unfollowed(source)) this.#fail(open, event.error, nowMs);
  }

  /** The commit was read for the first of its sources. */
  read(commit: StagedCommit): void {
    const [source = ''] = commit.sources;
    const nowMs = this.#options.clock.now();
    const { fetchedAtMs = nowMs } = this.#rounds.get(source) ?? {};
    const trace = this.#begin(commit.fetchBeganAtMs, this.#attributesOf(commit));
    trace.begin('fetch', commit.fetchBeganAtMs);
    trace.begin('read', fetchedAtMs);
    this.#open.set(commit.id, { commit, trace, isFollowed: false });
  }

  reached({ id }: StagedCommit, stage: CommitStage, atMs: number): void {
    const open = this.#open.get(id);
    if (open === undefined || stage === 'applied') return;
    open.isFollowed = true;
    open.trace?.begin(
      stage === 'decided' && open.commit.moved.size === 0 ? 'write works' : NEXT[stage],
      atMs,
    );
  }

  /** Nothing more is written for the commit; also if it was given up. */
  ended({ id, moved, isHeld }: StagedCommit): void {
    const open = this.#open.get(id);
    this.#open.delete(id);
    if (open?.isFollowed !== true) return;
    open.trace?.add({ 'berth.held': isHeld, 'berth.placements.unpublished': moved.size });
    open.trace?.end(this.#options.clock.now());
  }

  #roundBegins(source: string, nowMs: number): void {
    this.#rounds.set(source, { beganAtMs: nowMs, fetchedAtMs: undefined });
    for (const open of this.#unfollowed(source)) {
      // The round before ended without an error, and without all objects on the hub. Sources of one repository begin together.
      if (open.trace !== undefined && open.trace.step !== 'fetch') this.#fail(open, NOT_STORED, nowMs);
      if (open.trace !== undefined) continue;
      open.trace = this.#begin(nowMs, { ...this.#attributesOf(open.commit), 'berth.retry': true });
      open.trace.begin('fetch', nowMs);
    }
  }

  #noteFetched(source: string, nowMs: number): void {
    const round = this.#rounds.get(source);
    if (round !== undefined) round.fetchedAtMs ??= nowMs;
  }

  #unread(source: string, error: unknown, nowMs: number): void {
    const { beganAtMs = nowMs, fetchedAtMs } = this.#rounds.get(source) ?? {};
    if (this.#isTold(error)) return;
    if (error instanceof Error) this.#told.add(error);
    const trace = this.#begin(beganAtMs, this.#attributesOf({ sources: [source] }));
    trace.begin('fetch', beganAtMs);
    if (fetchedAtMs !== undefined) trace.begin('read', fetchedAtMs);
    trace.end(nowMs, { error });
  }

  #isTold(error: unknown): boolean {
    return error instanceof Error && this.#told.has(error);
  }

  #fail(open: Open, error: unknown, nowMs: number): void {
    open.trace?.end(nowMs, { error });
    open.trace = undefined;
  }

  #unfollowed(source: string): readonly Open[] {
    return [...this.#open.values()].filter(
      ({ commit, isFollowed }) => !isFollowed && commit.sources.includes(source),
    );
  }

  #begin(startMs: number, attributes: TraceAttributes): OpenTrace {
    return new OpenTrace(this.#options.sink, { name: NAME, startMs, attributes });
  }

  /** Names of attributes: OpenTelemetry's semantic conventions 1.38, "VCS attributes"; those of Berth begin with its name. */
  #attributesOf({
    id,
    sources,
  }: {
    readonly id?: string;
    readonly sources: readonly string[];
  }): TraceAttributes {
    return {
      'vcs.repository.url.full': this.#options.urls.get(sources[0] ?? '') ?? '',
      ...(id !== undefined && { 'vcs.ref.head.revision': id }),
      'berth.sources': [...sources],
    };
  }
}

const NOT_STORED = new TransientError('the hub has not stored all objects of the commit', {
  code: 'sync.partial',
  subject: 'commit',
});
