import { sha256 } from '@berth/runtime/sha256';
import type { PullRequest } from '@berth/forge/contract/pull-request-forge';
import { PublishedClusters } from '@berth/placement/prior/published-clusters';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { HeldChange } from '../../../core/preview/comment/command-answers.ts';
import type { HeldAfterMerge, MergeComparison } from '../../../core/preview/comment/merge-comparison.ts';
import {
  type ExplainedDifference,
  isNotable,
  mergeNotice,
  type MergeResult,
  mergeStatus,
  withMergeResult,
} from '../../../core/preview/comment/merge-result.ts';
import { laterAhead } from '../../../core/preview/later/later-texts.ts';
import { MergeCauses, type MergedPullRequest } from './merge-causes.ts';
import { readMergedState, releaseApproved, releasedBy } from './merged-state.ts';
import { NO_MEMORY, type PreviewMemory, type SeenMerge } from './preview-memory.ts';
import type { PullRequestPreviewsOptions } from './pull-request-options.ts';
import { previewMarker, writeStickyComment } from './sticky-comment.ts';

/** The interval between two checks of what is published. */
const CHECK_INTERVAL_MS = 2_000;
/** Decisions settle within this time after the hub follows a commit. A difference that remains is reported. */
const SETTLE_MS = 60_000;
/** Berth stops watching a merge that the hub has not followed within this time. */
const GIVE_UP_MS = 24 * 3_600_000;
/** What is held is followed up at this interval, for so long. */
const [HOLD_INTERVAL_MS, MAX_HOLD_MS] = [10_000, 30 * 24 * 3_600_000] as const;

/**
 * Compares what a merged pull request did with what its plan said, and reports the result on the pull request. What is
 * held is followed up until it is released or gone.
 */
export class MergeWatch {
  readonly #options: PullRequestPreviewsOptions;
  /** The commit that the hub follows. */
  followed: string | undefined;

  constructor(options: PullRequestPreviewsOptions) {
    this.#options = options;
  }

  /**
   * Begins to watch a merge.
   * @throws the errors of the forge and of the hub
   */
  async begin({ number, mergeCommit, baseBranch }: PullRequest, signal: AbortSignal): Promise<void> {
    const memory = this.#memory(number);
    // Without a plan there is nothing to compare. A pull request that was read as closed may be merged, because some
    // forges respond while they merge.
    if (memory.base === '' || memory.merge !== undefined) return;
    // The forge has not finished the merge.
    if (mergeCommit === undefined) return this.#later(number, CHECK_INTERVAL_MS);
    const { clock, hubState } = this.#options;
    const merge = { commit: mergeCommit, baseBranch, seenAtMs: clock.now(), state: hubState() };
    this.#save(number, { ...memory, merge, endedAtMs: undefined });
    this.#recordOverrides(number, memory);
    await this.#write(number, undefined, signal);
    return this.follow(number, merge, signal);
  }

  /**
   * Checks the merge once, and again later until what is published has settled and nothing is held.
   * @throws the errors of the forge and of the hub
   */
  async follow(number: number, seen: SeenMerge, signal: AbortSignal): Promise<void> {
    const { clock, repositoryName } = this.#options;
    const nowMs = clock.now();
    if (seen.followedAtMs === undefined) {
      if (nowMs - seen.seenAtMs > GIVE_UP_MS) return this.#end(number);
      // The source notifies this class when it has followed another commit.
      if (this.followed === undefined || !(await this.#isFollowed(seen, this.followed, signal))) return;
    }
    const merge = { ...seen, followedAtMs: seen.followedAtMs ?? nowMs };
    const memory = { ...this.#memory(number), merge };
    this.#save(number, memory);
    const found = await readMergedState(this.#options, followedPlan(memory, merge), merge.followedAtMs);
    const { approvals } = memory;
    const subject = `${repositoryName}#${number}`;
    const released = await releaseApproved(this.#options, found.held, approvals, subject);
    if (released) this.#save(number, { ...memory, merge: { ...merge, releasedAtMs: nowMs } });
    // An add-on leaves after its placement, and may be held then.
    const sinceMs = nowMs - Math.max(merge.followedAtMs, merge.releasedAtMs ?? 0);
    const isApproved = ({ token }: HeldAfterMerge): boolean => approvals.some((one) => one.token === token);
    const isOpen =
      found.isUnderWay ||
      found.differences.length > 0 ||
      found.held.some((one) => !one.isPlanned || isApproved(one));
    if (released || (isOpen && sinceMs < SETTLE_MS)) return this.#later(number, CHECK_INTERVAL_MS);
    const followed = this.followed ?? merge.commit;
    await this.#report({ number, memory, merge, followed }, found, signal);
    if (found.held.length > 0 && nowMs - merge.followedAtMs < MAX_HOLD_MS)
      return this.#later(number, HOLD_INTERVAL_MS);
    this.#end(number);
  }

  /** In the history of the controller: a step for each placement that the pull request moves. */
  #recordOverrides(number: number, { overrides = [], expected }: PreviewMemory): void {
    const { clock, record, repositoryName } = this.#options;
    const at = new Date(clock.now()).toISOString();
    const placements = expected.length === 0 ? [undefined] : expected.map(({ placement }) => placement);
    for (const { rule, by, reason } of overrides)
      for (const placement of placements) {
        const detail = `${rule}: ${by} on ${repositoryName}#${number}: ${reason}`;
        record({ at, step: 'rule-overridden', placement, detail });
      }
  }

  async #isFollowed(merge: SeenMerge, followed: string, signal: AbortSignal): Promise<boolean> {
    const { repository } = this.#options;
    await repository.fetchBranch(merge.baseBranch, signal);
    await repository.fetchCommit(merge.commit, signal);
    await repository.fetchCommit(followed, signal);
    return repository.holds(followed, merge.commit);
  }

  async #report(pull: MergedPullRequest, found: MergeComparison, signal: AbortSignal): Promise<void> {
    const { forge, source } = this.#options;
    const { number, merge } = pull;
    const result = await this.#resultOf(pull, found);
    const reported = {
      held: result.held.map(({ what, token }) => ({ what, token })),
      ...{ differences: result.differences, ended: result.ended },
    };
    if (jsonEqual(reported, merge.reported)) return;
    await this.#write(number, result, signal);
    // An edited comment notifies nobody, so this is a new one. It is edited when what is held changes.
    const marker = `<!-- ${previewMarker(source)}:merged -->`;
    const target = { number, marker, known: merge.notice };
    const notice =
      isNotable(result) || merge.notice !== undefined
        ? await writeStickyComment(forge, target, mergeNotice(marker, result, sha256), signal)
        : undefined;
    const context = `berth/merged/${source}`;
    await forge.writeStatus({ commit: merge.commit, ...mergeStatus(result), context }, signal);
    this.#save(number, { ...this.#memory(number), merge: { ...merge, notice, reported } });
  }

  /** The causes are read where something differs, which is rare. */
  async #resultOf(pull: MergedPullRequest, { held, differences }: MergeComparison): Promise<MergeResult> {
    const { memory, merge } = pull;
    const { reported } = merge;
    const overrides = memory.overrides ?? [];
    const later = laterAhead(memory, merge.followedAtMs ?? 0, this.#options.clock.now());
    const causes = new MergeCauses(this.#options, pull);
    if (reported === undefined) {
      const explained: ExplainedDifference[] = [];
      for (const one of differences) explained.push({ ...one, cause: await causes.of(one) });
      return { held, differences: explained, ended: [], later, overrides };
    }
    const ended = [...reported.ended];
    for (const hold of reported.held) {
      if (held.some(({ what }) => subjectOf(what) === subjectOf(hold.what))) continue;
      const by = await releasedBy(this.#options, hold);
      const difference = differences.find(({ placement }) => placement === subjectOf(hold.what));
      const cause = by === undefined && difference !== undefined ? await causes.of(difference) : undefined;
      ended.push({ what: hold.what, releasedBy: by, cause, clusters: this.#clustersOf(hold.what) });
    }
    return { held, differences: reported.differences, ended, later, overrides };
  }

  #clustersOf(what: HeldChange['what']): readonly string[] | undefined {
    if (!('placement' in what)) return undefined;
    return new PublishedClusters().read(this.#options.snapshot().decisions).clusters.get(what.placement);
  }

  /** Puts the result into the page and the comment of the preview. */
  async #write(number: number, result: MergeResult | undefined, signal: AbortSignal): Promise<void> {
    const { forge, reports, source } = this.#options;
    const { merge, approvals } = this.#memory(number);
    const merged = {
      commit: merge?.commit ?? '',
      text: result === undefined ? 'Waiting for the hub to follow' : mergeStatus(result).description,
      isHeld: (result?.held.length ?? 0) > 0,
    };
    await reports.merged({ source, number }, { merged, approvals });
    const marker = `<!-- ${previewMarker(source)} -->`;
    const [comment] = await forge.ownComments(number, marker, signal);
    if (comment === undefined) return;
    const text = withMergeResult(comment.text, result, forge.maxCommentLength);
    await forge.editComment(number, comment.id, text, signal);
  }

  #end(number: number): void {
    this.#save(number, { ...this.#memory(number), endedAtMs: this.#options.clock.now() });
  }

  #later(number: number, delayMs: number): void {
    const { queue, source } = this.#options;
    queue.addAfter({ source, number }, delayMs);
  }

  #memory(number: number): PreviewMemory {
    return this.#options.memories.get(String(number)) ?? NO_MEMORY;
  }

  #save(number: number, memory: PreviewMemory): void {
    this.#options.memories.set(String(number), memory);
  }
}

/** What the plan of a merge said, as far as it is still followed up: after the first report, only what was held then. */
function followedPlan(memory: PreviewMemory, { reported }: SeenMerge): PreviewMemory {
  if (reported === undefined) return memory;
  const subjects = new Set(reported.held.map(({ what }) => subjectOf(what)));
  return {
    ...memory,
    expected: memory.expected.filter(({ placement }) => subjects.has(placement)),
    heldDeletions: memory.heldDeletions.filter(({ source }) => subjects.has(source)),
    addOns: memory.addOns?.flatMap((one) => {
      if (subjects.has(addOnSubject(one.addOn))) return [one];
      return one.heldToken === undefined ? [] : [{ ...one, onlyThisHold: true as const }];
    }),
  };
}

function addOnSubject(name: string): string {
  return `add-on ${name}`;
}

/** A name of a source contains no slash, so it is no placement, and no blank, so it is no add-on. */
function subjectOf(what: HeldChange['what']): string {
  if ('addOn' in what) return addOnSubject(what.addOn);
  return 'deletionsOf' in what ? what.deletionsOf : what.placement;
}
