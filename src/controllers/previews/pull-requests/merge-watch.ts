import type { PullRequest } from '@berth/forge/contract/pull-request-forge';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { namespacedName } from '@berth/kube/model/object-ref';
import { PublishedClusters } from '@berth/placement/prior/published-clusters';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { InputError } from '@berth/runtime/errors';
import {
  type MergeDifference,
  compareMerge,
  type PlacementAfterMerge,
} from '../../../core/preview/comment/merge-comparison.ts';
import { mergeResultText, withMergeResult } from '../../../core/preview/comment/merge-result.ts';
import { activeHold } from '../../../core/publish/approval/active-hold.ts';
import { releaseDeletions, releasePlacement } from '../../releases/release-held.ts';
import type { Release } from '../../releases/release.ts';
import { NO_MEMORY, type PreviewMemory, type SeenMerge } from './preview-memory.ts';
import type { PullRequestPreviewsOptions } from './pull-request-options.ts';
import { previewMarker } from './sticky-comment.ts';

/** The interval between two checks of what is published. */
const CHECK_INTERVAL_MS = 2_000;
/** Decisions settle within this time after the hub follows a commit. A difference that remains is reported. */
const SETTLE_MS = 60_000;
/** Berth stops watching a merge that the hub has not followed within this time. */
const GIVE_UP_MS = 24 * 3_600_000;

/** Compares what a merged pull request did with what its plan said, and reports the result on the pull request. */
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
    if (mergeCommit === undefined) return this.#later(number);
    const merge = { commit: mergeCommit, baseBranch, seenAtMs: this.#options.clock.now() };
    this.#save(number, { ...memory, merge, endedAtMs: undefined });
    await this.#write(number, undefined, signal);
    return this.follow(number, merge, signal);
  }

  /**
   * Checks the merge once, and again later until what is published has settled.
   * @throws the errors of the forge and of the hub
   */
  async follow(number: number, merge: SeenMerge, signal: AbortSignal): Promise<void> {
    const { clock, hub, namespace, snapshot, repositoryName } = this.#options;
    const nowMs = clock.now();
    if (merge.followedAtMs === undefined) {
      if (nowMs - merge.seenAtMs > GIVE_UP_MS) return this.#end(number);
      // The source notifies this class when it has followed another commit.
      if (this.followed === undefined || !(await this.#isFollowed(merge, this.followed, signal))) return;
      this.#save(number, { ...this.#memory(number), merge: { ...merge, followedAtMs: nowMs } });
    }
    const memory = this.#memory(number);
    const released = await releaseApproved(hub, memory, {
      namespace,
      now: new Date(nowMs).toISOString(),
      subject: `${repositoryName}#${number}`,
    });
    const differences = mergeDifferences(memory, snapshot());
    const hasSettled = nowMs - (merge.followedAtMs ?? nowMs) >= SETTLE_MS;
    const isOpen = differences.length > 0 || isApprovedHeld(memory, snapshot());
    if (released || (isOpen && !hasSettled)) return this.#later(number);
    await this.#report(number, merge.commit, differences, signal);
    this.#end(number);
  }

  async #isFollowed(merge: SeenMerge, followed: string, signal: AbortSignal): Promise<boolean> {
    const { repository } = this.#options;
    await repository.fetchBranch(merge.baseBranch, signal);
    await repository.fetchCommit(merge.commit, signal);
    await repository.fetchCommit(followed, signal);
    return repository.holds(followed, merge.commit);
  }

  async #report(
    number: number,
    commit: string,
    differences: readonly MergeDifference[],
    signal: AbortSignal,
  ): Promise<void> {
    const { forge, source } = this.#options;
    await this.#write(number, differences, signal);
    const count = differences.length;
    if (count > 0) {
      // An edited comment notifies nobody, so this is a new one.
      const marker = `<!-- ${previewMarker(source)}:merged -->`;
      const [known] = await forge.ownComments(number, marker, signal);
      if (known === undefined)
        await forge.addComment(number, `${marker}\n${mergeResultText(differences)}\n`, signal);
    }
    const description =
      count === 0
        ? 'As the plan said'
        : `Not as the plan said: ${count === 1 ? '1 placement' : `${count} placements`}`;
    const state = count === 0 ? 'success' : 'failure';
    await forge.writeStatus({ commit, state, description, context: `berth/merged/${source}` }, signal);
  }

  /** Puts the result into the comment of the preview. */
  async #write(
    number: number,
    differences: readonly MergeDifference[] | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { forge, source } = this.#options;
    const marker = `<!-- ${previewMarker(source)} -->`;
    const [comment] = await forge.ownComments(number, marker, signal);
    if (comment !== undefined)
      await forge.editComment(number, comment.id, withMergeResult(comment.text, differences), signal);
  }

  #end(number: number): void {
    this.#save(number, { ...this.#memory(number), endedAtMs: this.#options.clock.now() });
  }

  #later(number: number): void {
    const { queue, source } = this.#options;
    queue.addAfter({ source, number }, CHECK_INTERVAL_MS);
  }

  #memory(number: number): PreviewMemory {
    return this.#options.memories.get(String(number)) ?? NO_MEMORY;
  }

  #save(number: number, memory: PreviewMemory): void {
    this.#options.memories.set(String(number), memory);
  }
}

/** Whether a change that was approved on the pull request is still held. */
function isApprovedHeld(
  { approvals, expected }: PreviewMemory,
  snapshot: Parameters<typeof mergeDifferences>[1],
): boolean {
  const approved = expected.filter(({ heldToken: heldCode }) =>
    approvals.some(({ token: code }) => code === heldCode),
  );
  const unheld = approved.map((one) => ({ ...one, heldToken: undefined }));
  return mergeDifferences({ expected: unheld }, snapshot).length > 0;
}

/** The differences between what is published now and what the plan of the merged pull request said. */
function mergeDifferences(
  { expected }: Pick<PreviewMemory, 'expected'>,
  { placements, decisions }: Pick<Snapshot, 'placements' | 'decisions'>,
): readonly MergeDifference[] {
  const { clusters } = new PublishedClusters().read(decisions);
  const found = new Map(
    placements.map((placement): [string, PlacementAfterMerge] => {
      const key = namespacedName(placement.metadata);
      return [key, { clusters: clusters.get(key) ?? [], held: activeHold(placement)?.message }];
    }),
  );
  return compareMerge(expected, (placement) => found.get(placement));
}

/**
 * Releases what the controller holds because of the merge, if it was approved on the pull request. A code identifies
 * exactly one change, so no other change is released.
 * @returns whether something was released
 */
async function releaseApproved(
  hub: KubeApi,
  memory: Pick<PreviewMemory, 'approvals' | 'expected' | 'heldDeletions'>,
  options: { readonly namespace: string; readonly subject: string; readonly now: string },
): Promise<boolean> {
  const { namespace, subject, now } = options;
  let isReleased = false;
  const attempt = async (
    code: string | undefined,
    release: (release: Release) => Promise<unknown>,
  ): Promise<void> => {
    const approval = memory.approvals.find((one) => one.token === code);
    if (code === undefined || approval === undefined) return;
    try {
      await release({ code, releasedBy: `${approval.by} on ${subject} at ${now}` });
      isReleased = true;
    } catch (error) {
      // Nothing is held under this code: not yet, no longer, or because the change is another one.
      if (!(error instanceof InputError)) throw error;
    }
  };
  for (const { placement, heldToken: heldCode } of memory.expected) {
    const [space = '', name = ''] = placement.split('/');
    await attempt(heldCode, (release) => releasePlacement(hub, { namespace: space, name }, release));
  }
  for (const { source, token: code } of memory.heldDeletions)
    await attempt(code, (release) => releaseDeletions(hub, { source, namespace }, release));
  return isReleased;
}
