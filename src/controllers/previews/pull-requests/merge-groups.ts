import { heldTokens } from '../../../core/preview/comment/preview-outcome.ts';
import { renderComment } from '../../../core/preview/comment/render-comment.ts';
import { PLANNING, type PreviewStatuses } from './preview-statuses.ts';
import type { PullRequestPreviewsOptions } from './pull-request-options.ts';
import type { MergeGroup } from './reported-events.ts';
import { previewMarker } from './sticky-comment.ts';

/** A merge queue builds only a few groups at the same time. */
const MAX_POSTPONED = 20;

/** The groups of a repository's merge queue. Each gets the statuses of a preview, but no comment. */
export class MergeGroups {
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
   * Plans a merge group. Approvals on its pull requests count, because a token identifies exactly one change.
   * @throws the errors of the forge
   */
  async plan({ head, base, baseBranch }: MergeGroup, signal: AbortSignal): Promise<void> {
    const { forge, repository, records, plan, whenPublished, source } = this.#options;
    await this.#statuses.pending({ commit: head }, PLANNING, signal);
    await repository.fetchCommit(base, signal);
    await whenPublished(signal);
    // A user with write access added it to the queue, even if the pull request comes from a fork.
    const { outcome, map } = await plan({ headCommit: head, baseBranch, fromFork: false }, base, signal);
    const tokens = outcome.kind === 'planned' ? heldTokens(outcome.plan) : [];
    const approvals = records
      .keys()
      .flatMap((number) => records.get(number)?.approvals ?? [])
      .filter(({ token }) => tokens.includes(token));
    const summary = renderComment({
      ...{ marker: previewMarker(source), outcome, approvals, map, head },
      ...{ takesCommands: false, notes: [], maxLength: forge.maxCommentLength },
    });
    const report = { outcome, approvals, summary, targetUrl: undefined };
    await this.#statuses.planned({ commit: head }, report, [], signal);
  }
}
