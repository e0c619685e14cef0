import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Clock } from '@berth/runtime/clock/clock';
import type { HubBreak } from '../../../core/sync/hub-position.ts';
import type { ControllerEventBody } from '../../events/controller-events.ts';
import type { SourceContent } from '../manifests/source-content.ts';
import type { SyncOutcome } from '../members/sync-problem.ts';
import type { SourceEvent } from '../progress/source-options.ts';
import type { HubSync } from './hub-sync.ts';
import type { RoundEnd, SourceRound } from './sync-together.ts';

export interface FollowedSourceOptions {
  readonly name: string;
  /** Undefined: another tool applies the objects (`sync: observe`). */
  readonly sync: HubSync | undefined;
}

interface FollowedSourceParts extends FollowedSourceOptions {
  readonly clock: Clock;
  /** Interval of full comparisons of the hub with the last commit, which correct manual changes. */
  readonly resyncIntervalMs: number;
  readonly emit: (event: ControllerEventBody) => void;
  readonly emitSource: (event: SourceEvent) => Promise<void> | void;
}

/** State of the source, for `berth status`. */
export interface SourceStatus {
  readonly name: string;
  readonly inProcess: boolean;
  readonly content: SourceContent | undefined;
  readonly outcome: SyncOutcome | undefined;
  readonly lastError: unknown;
  readonly lastSuccessAtMs: number | undefined;
  /** Undefined: the last attempt succeeded. */
  readonly failingSinceMs: number | undefined;
  /** Undefined: the hub follows what was read. */
  readonly unfollowedSinceMs: number | undefined;
}

/** What a source has read, and how far the hub follows it. */
export class FollowedSource {
  readonly #parts: FollowedSourceParts;
  /** The content to follow. */
  #content: SourceContent | undefined;
  /** Content that was read, but is not checked yet. */
  #unchecked: SourceContent | undefined;
  #outcome: SyncOutcome | undefined;
  #lastError: unknown;
  #lastSuccessAtMs: number | undefined;
  #failingSinceMs: number | undefined;
  #unfollowedSinceMs: number | undefined;
  #comparedAtMs = -Infinity;
  #syncedCommit: string | undefined;
  #comparesRequested = 0;
  #comparesDone = 0;
  #hubChanges = 0;
  #lastReported = '';

  constructor(parts: FollowedSourceParts) {
    this.#parts = parts;
  }

  get name(): string {
    return this.#parts.name;
  }

  get comparedAtMs(): number {
    return this.#comparedAtMs;
  }

  /** Identifies the problems that were last reported. */
  get reported(): string {
    return this.#lastReported;
  }

  status(): Omit<SourceStatus, 'inProcess'> {
    return {
      name: this.name,
      content: this.#content ?? this.#unchecked,
      outcome: this.#outcome,
      lastError: this.#lastError,
      lastSuccessAtMs: this.#lastSuccessAtMs,
      failingSinceMs: this.#failingSinceMs,
      unfollowedSinceMs: this.#unfollowedSinceMs,
    };
  }

  tell(kind: 'fetching' | 'fetched' | 'following' | 'followed' | 'complete'): void {
    void this.#parts.emitSource({ kind, source: this.name });
  }

  /** The commit could not be fetched or read. */
  unread(error: unknown): void {
    void this.#parts.emitSource({ kind: 'unread', source: this.name, error });
  }

  /** A commit was read. Resolves when those who listen have handled it. */
  async read(content: SourceContent): Promise<void> {
    this.#unchecked = content;
    await this.#parts.emitSource({ kind: 'read', source: this.name, content });
  }

  /** The same content with all its problems: it is to be followed. */
  checked(content: SourceContent): void {
    const { emit, emitSource } = this.#parts;
    const { commit, objects, files, problems } = content;
    this.#content = content;
    if (this.#parts.sync !== undefined && commit?.id !== this.#syncedCommit)
      this.#unfollowedSinceMs ??= this.#parts.clock.now();
    emit({ kind: 'commit-read', source: this.name, commit, objects: objects.length, files, problems });
    void emitSource({ kind: 'checked', source: this.name, content });
  }

  succeeded(): void {
    this.#lastError = undefined;
    this.#failingSinceMs = undefined;
    this.#lastSuccessAtMs = this.#parts.clock.now();
  }

  failed(error: unknown): void {
    this.#lastError = error;
    this.#failingSinceMs ??= this.#parts.clock.now();
    void this.#parts.emitSource({ kind: 'failed', source: this.name, error });
    this.#parts.emit({ kind: 'error', where: `source ${this.name}`, error });
  }

  requestComparison(): void {
    this.#comparesRequested += 1;
  }

  /** Whether the source has this object on the hub, and declares it. */
  declares(object: KubeObject): boolean {
    return this.#parts.sync?.declares(object, this.#content?.objects ?? []) === true;
  }

  hubChanged(how: HubBreak): void {
    this.#hubChanges += 1;
    this.#parts.sync?.hubChanged(how);
    this.requestComparison();
  }

  /** Publishes to the other sources what this one declares. */
  declare(): void {
    if (this.#content !== undefined) this.#parts.sync?.declare(this.#content);
  }

  /** Whether the hub has to be compared with all objects of the source. */
  get mustCompare(): boolean {
    if (this.#parts.sync === undefined || this.#content === undefined) return false;
    const sinceMs = this.#parts.clock.now() - this.#comparedAtMs;
    return (
      sinceMs >= this.#parts.resyncIntervalMs ||
      sinceMs < 0 ||
      this.#comparesRequested !== this.#comparesDone ||
      this.#outcome?.pruneHeld !== undefined ||
      this.#outcome?.problems.some(({ retry }) => retry) === true
    );
  }

  /** Whether what the commit changed can be applied before, or without, a full comparison. */
  get canFollow(): boolean {
    const { sync } = this.#parts;
    if (sync === undefined || this.#content === undefined) return false;
    return this.#syncedCommit !== this.#content.commit?.id && (!this.mustCompare || sync.isComplete);
  }

  /**
   * Begins to make the hub follow the content.
   * @param compare compare all objects with the hub
   */
  async begin(
    compare: boolean,
    signal: AbortSignal,
  ): Promise<{ readonly round: SourceRound; readonly end: (how: RoundEnd) => void }> {
    const { sync } = this.#parts;
    const content = this.#content;
    if (sync === undefined || content === undefined) throw new Error(`source ${this.name} is not followed`);
    const [requested, hubChanges] = [this.#comparesRequested, this.#hubChanges];
    const round = await sync.begin(content, { compare, signal });
    const end = (how: RoundEnd): void => {
      if ('error' in how) return;
      this.#outcome = how.outcome;
      this.#report(how.outcome);
      // Results from before the hub was restored or replaced are invalid.
      if (hubChanges !== this.#hubChanges) sync.compareAllNext();
      else if (!this.#isPartial) this.tell('complete');
      this.#syncedCommit = content.commit?.id;
      if (!this.#isPartial && this.#content?.commit?.id === content.commit?.id)
        this.#unfollowedSinceMs = undefined;
      // Reset only after a comparison: with many commits the hub would otherwise never be compared.
      if (!compare) return;
      this.#comparedAtMs = this.#parts.clock.now();
      this.#comparesDone = requested;
    };
    return { round, end };
  }

  /** Whether to retry before the next interval: the hub did not respond, or a namespace does not exist yet. */
  get retriesSoon(): boolean {
    return this.#isPartial || this.#missingNamespaces.length > 0;
  }

  get #isPartial(): boolean {
    return this.#outcome?.problems.some(({ isCommitPartial }) => isCommitPartial === true) ?? false;
  }

  get #missingNamespaces(): readonly string[] {
    return (this.#outcome?.problems ?? []).flatMap(({ missingNamespace }) => missingNamespace ?? []);
  }

  /** Resolves when a namespace exists that objects need, or when aborted. Undefined: they have all they need. */
  namespaceArrives(signal: AbortSignal): Promise<void> | undefined {
    const missing = this.#missingNamespaces;
    return missing.length === 0 ? undefined : this.#parts.sync?.namespaceArrives(missing, signal);
  }

  #report({ applied, pruned, unchanged, problems, pruneHeld, released }: SyncOutcome): void {
    const { emit, name } = this.#parts;
    emit({ kind: 'synced', source: name, applied, pruned, unchanged, ...(released && { released }) });
    // The same problems are reported once, not at every round.
    const sorted = problems.map((problem) => JSON.stringify(problem)).sort();
    const text = JSON.stringify([sorted, pruneHeld]);
    if (text === this.#lastReported) return;
    this.#lastReported = text;
    for (const { object, message, location } of problems)
      emit({ kind: 'sync-problem', source: name, object, message, location });
    const held = { object: `source ${name}`, isHeld: true } as const;
    if (pruneHeld) emit({ kind: 'sync-problem', source: name, ...held, message: pruneHeld.message });
  }
}
