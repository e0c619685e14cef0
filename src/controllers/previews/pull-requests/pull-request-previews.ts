import { BerthError, TransientError } from '../../../core/errors.ts';
import { Backoff } from '../../../runtime/backoff.ts';
import { sleep } from '../../../runtime/sleep.ts';
import { WakeUp } from '../../../runtime/wake-up.ts';
import { MergeGroups } from './merge-groups.ts';
import { MergeWatch } from './merge-watch.ts';
import { runCommentCommand } from './run-comment-command.ts';
import { OpenPullRequests } from './open-pull-requests.ts';
import { PreviewStatuses } from './preview-statuses.ts';
import { NO_RECORD, type PreviewRecord } from './preview-record.ts';
import type { MergeGroup, PullRequestComment } from './reported-events.ts';
import type { PullRequestPreviewsOptions } from './pull-request-options.ts';

/** Deliveries get lost: the open pull requests are listed this often. */
const LIST_INTERVAL_MS = 5 * 60_000;
/** Records of pull requests that ended are kept this long, for deliveries that come late. */
const KEEP_ENDED_MS = 7 * 24 * 3_600_000;
/** One that was closed is read again after this time. */
const CLOSED_AGAIN_MS = 5_000;

/**
 * The pull requests of one repository: each gets a plan in one comment and a status. What the forge reports is only a hint; the pull
 * request is read again before anything is done.
 */
export class PullRequestPreviews {
  readonly #options: PullRequestPreviewsOptions;
  readonly #backoffs = new Map<number, Backoff>();
  readonly #wakeUp = new WakeUp();
  readonly #merges: MergeWatch;
  readonly #open: OpenPullRequests;
  readonly #groups: MergeGroups;
  #branch: string | undefined;
  /** The commit that the source was read at last. */
  #read: string | undefined;

  constructor(options: PullRequestPreviewsOptions) {
    this.#options = options;
    this.#branch = options.branch;
    this.#merges = new MergeWatch(options);
    const statuses = new PreviewStatuses(options);
    this.#open = new OpenPullRequests(options, statuses);
    this.#groups = new MergeGroups(options, statuses);
  }

  get source(): string {
    return this.#options.source;
  }

  /** A pull request was opened, pushed, edited, merged or closed. */
  pullRequestChanged(number: number, headCommit: string | undefined): void {
    const { source, queue } = this.#options;
    // Before the hub follows the source a plan would be made on another fleet. Then the open ones are listed.
    if (this.#merges.followed === undefined) return;
    queue.add({ source, number }, headCommit === undefined || this.#record(number).head !== headCommit);
  }

  /** The source was read at this commit; the hub does not follow it yet. */
  sourceRead(commit: string): void {
    this.#read = commit;
  }

  /**
   * The hub follows what was read last: what is open is planned again on it.
   * @returns groups of the merge queue that waited for it
   */
  sourceFollowed(): readonly MergeGroup[] {
    if (this.#read === undefined || this.#read === this.#merges.followed) return [];
    this.#merges.followed = this.#read;
    this.#wakeUp.call();
    for (const number of this.#openNumbers()) this.#enqueue(number);
    return this.#groups.waited();
  }

  /** What plans are made on is another: those that were made on what was there before are made again. */
  hubChanged(state: string): void {
    if (this.#merges.followed === undefined) return;
    for (const number of this.#openNumbers()) {
      const { planned } = this.#record(number);
      if (planned !== undefined && planned.state !== state) this.#enqueue(number);
    }
  }

  /**
   * A comment was written on a pull request.
   * @throws as the forge does
   */
  async commented(comment: PullRequestComment, signal: AbortSignal): Promise<void> {
    const { number } = comment;
    if (this.#options.leadership?.isHeld === false) return;
    const change = await runCommentCommand(this.#options, comment, signal);
    if (change === undefined) return;
    this.#save(number, change(this.#record(number)));
    this.#enqueue(number);
  }

  /**
   * A merge queue asks for checks of what it would merge.
   * @throws as the forge does
   */
  async mergeGroup(group: MergeGroup, signal: AbortSignal): Promise<void> {
    if (this.#options.leadership?.isHeld === false) return;
    // Before the hub follows the source a plan would be made on another fleet.
    if (this.#merges.followed === undefined) return this.#groups.wait(group);
    this.#branch ??= await this.#options.forge.defaultBranch(signal);
    if (group.baseBranch === this.#branch) await this.#groups.plan(group, signal);
  }

  /** Lists the open pull requests at once and then at intervals, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, leadership, onError, log, source } = this.#options;
    const backoff = new Backoff({ initialMs: 2_000, maxMs: LIST_INTERVAL_MS }, random);
    while (!signal.aborted) {
      await leadership?.whenHeld(signal);
      if (this.#merges.followed === undefined) await this.#wakeUp.wait(signal);
      if (signal.aborted) return;
      let waitMs = LIST_INTERVAL_MS * (0.9 + 0.2 * random());
      try {
        await this.#catchUp(signal);
        backoff.reset();
      } catch (error) {
        if (signal.aborted) return;
        log.warn('open pull requests not listed', { source, error });
        onError(error);
        waitMs = waitAfter(error, backoff.nextMs());
      }
      await sleep(clock, waitMs, signal);
    }
  }

  /** Works on one pull request. Failures are reported and tried again. */
  async work(number: number, signal: AbortSignal): Promise<void> {
    const { source, queue, log, random, onError, leadership } = this.#options;
    await leadership?.whenHeld(signal);
    if (signal.aborted) return;
    try {
      await this.#workOn(number, signal);
      this.#backoffs.delete(number);
    } catch (error) {
      if (signal.aborted) return;
      log.warn('pull request not previewed', { source, number, error });
      onError(error);
      const backoff =
        this.#backoffs.get(number) ?? new Backoff({ initialMs: 1_000, maxMs: LIST_INTERVAL_MS }, random);
      this.#backoffs.set(number, backoff);
      // What the forge refuses it refuses again: the next listing tries once more.
      if (error instanceof TransientError || !(error instanceof BerthError))
        queue.addAfter({ source, number }, waitAfter(error, backoff.nextMs()));
    }
  }

  async close(): Promise<void> {
    await this.#options.repository.close();
  }

  async #catchUp(signal: AbortSignal): Promise<void> {
    const { forge, records, clock } = this.#options;
    const open = await forge.listOpen(signal);
    for (const { number, headCommit, baseBranch } of open) {
      const { head, endedAtMs } = this.#record(number);
      const isOurs = this.#branch === undefined || baseBranch === this.#branch;
      if (isOurs && (head !== headCommit || endedAtMs !== undefined)) this.#enqueue(number);
    }
    const numbers = new Set(open.map(({ number }) => number));
    for (const number of this.#openNumbers()) if (!numbers.has(number)) this.#enqueue(number);
    for (const key of records.keys()) {
      const { endedAtMs } = records.get(key) ?? NO_RECORD;
      if (endedAtMs !== undefined && clock.now() - endedAtMs > KEEP_ENDED_MS) records.delete(key);
    }
  }

  async #workOn(number: number, signal: AbortSignal): Promise<void> {
    const { forge } = this.#options;
    const { merge, endedAtMs } = this.#record(number);
    if (merge !== undefined && endedAtMs === undefined) return this.#merges.follow(number, merge, signal);
    const pull = await forge.read(number, signal);
    if (pull === undefined) return this.#options.records.delete(String(number));
    this.#branch ??= await forge.defaultBranch(signal);
    if (pull.baseBranch !== this.#branch) return;
    switch (pull.state) {
      case 'open':
        return this.#open.preview(pull, signal);
      case 'merged':
        return this.#merges.begin(pull, signal);
      case 'closed':
        return this.#closed(number);
    }
  }

  #closed(number: number): void {
    const { records, clock, queue, source } = this.#options;
    const record = records.get(String(number));
    if (record === undefined || record.endedAtMs !== undefined) return;
    this.#save(number, { ...record, head: '', endedAtMs: clock.now() });
    // A forge that is about to merge may say for a moment that it is closed and not merged.
    queue.addAfter({ source, number }, CLOSED_AGAIN_MS);
  }

  #enqueue(number: number): void {
    const { source, queue } = this.#options;
    queue.add({ source, number }, false);
  }

  #openNumbers(): readonly number[] {
    const { records } = this.#options;
    return records
      .keys()
      .filter((key) => records.get(key)?.endedAtMs === undefined)
      .map(Number);
  }

  #record(number: number): PreviewRecord {
    return this.#options.records.get(String(number)) ?? NO_RECORD;
  }

  #save(number: number, record: PreviewRecord): void {
    this.#options.records.set(String(number), record);
  }
}

function waitAfter(error: unknown, backoffMs: number): number {
  const askedMs = error instanceof TransientError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(askedMs, backoffMs);
}
