import { BerthError, TransientError } from '@berth/runtime/errors';
import { Backoff } from '@berth/runtime/loop/backoff';
import { sleep, WakeUp } from '@berth/runtime/loop/sleep';
import { heldCodes } from '../../../core/preview/comment/preview-outcome.ts';
import { renderComment } from '../../../core/preview/comment/render-comment.ts';
import { CommentCommands } from './comment-commands.ts';
import { MergeWatch } from './merge-watch.ts';
import { OpenPullRequests, withOverrides } from './open-pull-requests.ts';
import { NO_MEMORY, type PreviewMemory } from './preview-memory.ts';
import { PreviewStatuses, PLANNING } from './preview-statuses.ts';
import type { PullRequestPreviewsOptions } from './pull-request-options.ts';
import type { MergeGroup, PullRequestComment } from './reported-events.ts';
import { previewMarker } from './sticky-comment.ts';

/** Webhook deliveries may get lost, so the open pull requests are listed at this interval. */
const LIST_INTERVAL_MS = 5 * 60_000;
/** Memories of merged and closed pull requests are kept this long, for late deliveries. */
const KEEP_ENDED_MS = 7 * 24 * 3_600_000;
/** A closed pull request is read again after this time. */
const CLOSED_AGAIN_MS = 5_000;

/**
 * Handles the pull requests of one repository. Each gets a plan in one comment, and statuses. Events from the forge are
 * only hints: the pull request is always read again before Berth acts.
 */
export class PullRequestPreviews {
  readonly #options: PullRequestPreviewsOptions;
  readonly #backoffs = new Map<number, Backoff>();
  readonly #wakeUp = new WakeUp();
  readonly #merges: MergeWatch;
  readonly #open: OpenPullRequests;
  readonly #groups: MergeGroups;
  readonly #commands: CommentCommands;
  #branch: string | undefined;
  /** The commit at which the source was last read. */
  #read: string | undefined;

  constructor(options: PullRequestPreviewsOptions) {
    this.#options = options;
    this.#branch = options.branch;
    this.#merges = new MergeWatch(options);
    const statuses = new PreviewStatuses(options);
    this.#open = new OpenPullRequests(options, statuses, () => this.#merges.followed);
    this.#groups = new MergeGroups(options, statuses);
    this.#commands = new CommentCommands(options);
  }

  get source(): string {
    return this.#options.source;
  }

  /** A pull request was opened, pushed, edited, merged or closed. */
  pullRequestChanged(number: number, headCommit: string | undefined): void {
    const { source, queue } = this.#options;
    // Until the hub follows the source, a plan would be made on an outdated fleet. When it does, the open pull requests
    // are listed.
    if (this.#merges.followed === undefined) return;
    queue.add({ source, number }, headCommit === undefined || this.#memory(number).head !== headCommit);
  }

  /** The source was read at this commit. The hub does not follow it yet. */
  sourceRead(commit: string): void {
    this.#read = commit;
  }

  /**
   * The hub follows what was read last, so open pull requests are planned again.
   * @returns the groups of the merge queue that waited for this
   */
  sourceFollowed(): readonly MergeGroup[] {
    if (this.#read === undefined || this.#read === this.#merges.followed) return [];
    this.#merges.followed = this.#read;
    this.#wakeUp.call();
    for (const number of this.#openNumbers()) this.#enqueue(number);
    return this.#groups.takePostponed();
  }

  /** The state that plans are made on has changed: plans made on another state are made again. */
  hubChanged(state: string): void {
    if (this.#merges.followed === undefined) return;
    for (const number of this.#openNumbers()) {
      const { planned } = this.#memory(number);
      if (planned !== undefined && planned.state !== state) this.#enqueue(number);
    }
  }

  /**
   * A comment was written on a pull request.
   * @throws the errors of the forge
   */
  async commented(comment: PullRequestComment, signal: AbortSignal): Promise<void> {
    const { number } = comment;
    if (this.#options.leadership?.isHeld === false) return;
    this.#branch ??= await this.#options.forge.defaultBranch(signal);
    if (await this.#commands.run(comment, this.#branch, signal)) this.#enqueue(number);
  }

  /**
   * A merge queue asks for checks of a group that it wants to merge.
   * @throws the errors of the forge
   */
  async mergeGroup(group: MergeGroup, signal: AbortSignal): Promise<void> {
    if (this.#options.leadership?.isHeld === false) return;
    // Until the hub follows the source, a plan would be made on an outdated fleet.
    if (this.#merges.followed === undefined) return this.#groups.postpone(group);
    this.#branch ??= await this.#options.forge.defaultBranch(signal);
    if (group.baseBranch === this.#branch) await this.#groups.plan(group, signal);
  }

  /** Lists the open pull requests at once and then at intervals, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, leadership, onError, log, source, repositoryName } = this.#options;
    let isListed = false;
    const backoff = new Backoff({ initialMs: 2_000, maxMs: LIST_INTERVAL_MS }, random);
    while (!signal.aborted) {
      await leadership?.whenHeld(signal);
      if (this.#merges.followed === undefined) await this.#wakeUp.wait(signal);
      if (signal.aborted) return;
      let waitMs = LIST_INTERVAL_MS * (0.9 + 0.2 * random());
      try {
        const open = await this.#catchUp(signal);
        backoff.reset();
        if (!isListed)
          log.info('open pull requests are listed', { source, repository: repositoryName, open });
        isListed = true;
      } catch (error) {
        if (signal.aborted) return;
        isListed = false;
        log.warn('open pull requests were not listed', { source, error });
        onError(error);
        waitMs = waitAfter(error, backoff.nextMs());
      }
      await sleep(clock, waitMs, signal);
    }
  }

  /** Handles one pull request. A failure is reported, and a transient one is retried. */
  async work(number: number, signal: AbortSignal): Promise<void> {
    const { source, queue, log, random, onError, leadership } = this.#options;
    await leadership?.whenHeld(signal);
    if (signal.aborted) return;
    try {
      await this.#workOn(number, signal);
      this.#backoffs.delete(number);
    } catch (error) {
      if (signal.aborted) return;
      log.warn('pull request was not previewed', { source, number, error });
      onError(error);
      const backoff =
        this.#backoffs.get(number) ?? new Backoff({ initialMs: 1_000, maxMs: LIST_INTERVAL_MS }, random);
      this.#backoffs.set(number, backoff);
      // The forge would refuse the same request again. The next listing tries once more.
      if (error instanceof TransientError || !(error instanceof BerthError))
        queue.addAfter({ source, number }, waitAfter(error, backoff.nextMs()));
    }
  }

  async close(): Promise<void> {
    await this.#options.repository.close();
  }

  /** @returns how many are open */
  async #catchUp(signal: AbortSignal): Promise<number> {
    const { forge, memories, clock } = this.#options;
    const open = await forge.listOpen(signal);
    for (const { number, headCommit, baseBranch } of open) {
      const { head, endedAtMs } = this.#memory(number);
      const isOurs = this.#branch === undefined || baseBranch === this.#branch;
      if (isOurs && (head !== headCommit || endedAtMs !== undefined)) this.#enqueue(number);
    }
    const numbers = new Set(open.map(({ number }) => number));
    for (const number of this.#openNumbers()) if (!numbers.has(number)) this.#enqueue(number);
    for (const key of memories.keys()) {
      const { endedAtMs } = memories.get(key) ?? NO_MEMORY;
      if (endedAtMs !== undefined && clock.now() - endedAtMs > KEEP_ENDED_MS) memories.delete(key);
    }
    return open.length;
  }

  async #workOn(number: number, signal: AbortSignal): Promise<void> {
    const { forge } = this.#options;
    const { merge, endedAtMs } = this.#memory(number);
    if (merge !== undefined && endedAtMs === undefined) return this.#merges.follow(number, merge, signal);
    const pull = await forge.read(number, signal);
    if (pull === undefined) return this.#options.memories.delete(String(number));
    this.#branch ??= await forge.defaultBranch(signal);
    if (pull.baseBranch !== this.#branch) return;
    switch (pull.state) {
      case 'open':
        return this.#open.preview(pull, signal);
      case 'merged':
        return this.#merges.begin(pull, signal);
      case 'closed':
        await this.#open.close(pull, signal);
        return this.#closed(number);
    }
  }

  #closed(number: number): void {
    const { memories, clock, queue, source } = this.#options;
    const memory = memories.get(String(number));
    if (memory === undefined || memory.endedAtMs !== undefined) return;
    this.#save(number, { ...memory, head: '', endedAtMs: clock.now() });
    // A forge may briefly report a pull request as closed and not merged while it merges it.
    queue.addAfter({ source, number }, CLOSED_AGAIN_MS);
  }

  #enqueue(number: number): void {
    const { source, queue } = this.#options;
    queue.add({ source, number }, false);
  }

  #openNumbers(): readonly number[] {
    const { memories } = this.#options;
    return memories
      .keys()
      .filter((key) => memories.get(key)?.endedAtMs === undefined)
      .map(Number);
  }

  #memory(number: number): PreviewMemory {
    return this.#options.memories.get(String(number)) ?? NO_MEMORY;
  }

  #save(number: number, memory: PreviewMemory): void {
    this.#options.memories.set(String(number), memory);
  }
}

function waitAfter(error: unknown, backoffMs: number): number {
  const askedMs = error instanceof TransientError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(askedMs, backoffMs);
}

/** A merge queue builds only a few groups at the same time. */
const MAX_POSTPONED = 20;

/** The groups of a repository's merge queue. Each gets the statuses of a preview, but no comment. */
class MergeGroups {
  readonly #options: PullRequestPreviewsOptions;
  readonly #statuses: PreviewStatuses;
  /** Groups that were reported before the hub followed the source. */
  readonly #postponed: MergeGroup[] = [];

  constructor(options: PullRequestPreviewsOptions, statuses: PreviewStatuses) {
    this.#options = options;
    this.#statuses = statuses;
  }

  /** Keeps a group until the hub follows the source. */
  postpone(group: MergeGroup): void {
    this.#postponed.push(group);
    this.#postponed.splice(0, this.#postponed.length - MAX_POSTPONED);
  }

  /** Returns the postponed groups, and forgets them. */
  takePostponed(): readonly MergeGroup[] {
    return this.#postponed.splice(0);
  }

  /**
   * Plans a merge group. Approvals on its pull requests count, because a code identifies exactly one change.
   * @throws the errors of the forge
   */
  async plan({ head, base, baseBranch }: MergeGroup, signal: AbortSignal): Promise<void> {
    const { forge, repository, memories, plan, whenPublished, source } = this.#options;
    await this.#statuses.pending({ commit: head }, PLANNING, signal);
    await repository.fetchCommit(base, signal);
    await whenPublished(signal);
    // A user with write access added it to the queue, even if the pull request comes from a fork.
    const group = { headCommit: head, baseBranch, fromFork: false };
    const { outcome: planned, map } = await plan(group, base, signal);
    const overrides = memories.keys().flatMap((number) => memories.get(number)?.overrides ?? []);
    const outcome = withOverrides(planned, overrides).outcome;
    const codes = outcome.kind === 'planned' ? heldCodes(outcome.plan) : [];
    const approvals = memories
      .keys()
      .flatMap((number) => memories.get(number)?.approvals ?? [])
      .filter(({ token: code }) => codes.includes(code));
    const summary = renderComment({
      ...{ marker: previewMarker(source), outcome, approvals, map, head },
      ...{ notes: [], maxLength: forge.maxCommentLength },
    });
    const report = { outcome, approvals, summary, targetUrl: undefined };
    await this.#statuses.planned({ commit: head }, report, [], signal);
  }
}
