import { CONFIG_MAP, PLACEMENT } from '@berth/kube/model/kinds';
import { namespacedName } from '@berth/kube/model/object-ref';
import { PublishedClusters } from '@berth/placement/prior/published-clusters';
import { InputError } from '@berth/runtime/errors';
import {
  compareMerge,
  type HeldAfterMerge,
  type MergeComparison,
  type PlacementAfterMerge,
} from '../../../core/preview/comment/merge-comparison.ts';
import type { CommentApproval } from '../../../core/preview/plan.ts';
import { activeHold, holdCode } from '../../../core/publish/approval/active-hold.ts';
import {
  HELD_CODE_ANNOTATION,
  HELD_MESSAGE_ANNOTATION,
  RELEASE_ANNOTATION,
  RELEASED_ANNOTATION,
  RELEASED_BY_ANNOTATION,
} from '../../../core/publish/approval/publish-annotations.ts';
import { parentOfSource } from '../../../core/sync/apply-set.ts';
import { releaseDeletions, releasePlacement } from '../../releases/release-held.ts';
import type { PreviewMemory } from './preview-memory.ts';
import type { PullRequestPreviewsOptions } from './pull-request-options.ts';

type HubParts = Pick<PullRequestPreviewsOptions, 'clock' | 'hub' | 'namespace' | 'snapshot'>;

/** Compares what is published and held now with what a plan said. */
export async function readMergedState(
  { clock, snapshot, hub, namespace }: HubParts,
  { expected, later = [], heldDeletions }: Pick<PreviewMemory, 'expected' | 'later' | 'heldDeletions'>,
  followedAtMs: number,
): Promise<MergeComparison> {
  const { placements, decisions } = snapshot();
  const { clusters } = new PublishedClusters().read(decisions);
  const published = new Map(
    placements.map((placement): [string, PlacementAfterMerge] => {
      const key = namespacedName(placement.metadata);
      const held = activeHold(placement);
      const hold = held && { reason: held.reason, message: held.message, token: holdCode(held.message) };
      return [key, { clusters: clusters.get(key) ?? [], hold }];
    }),
  );
  const plan = { expected, later, followedAtMs };
  const { held, differences } = compareMerge(plan, (placement) => published.get(placement), clock.now());
  const deletions: HeldAfterMerge[] = [];
  for (const { source, token: planned } of heldDeletions) {
    const parent = await hub.get(CONFIG_MAP, parentOfSource(source, namespace));
    const { [HELD_CODE_ANNOTATION]: token = '', [HELD_MESSAGE_ANNOTATION]: message = '' } =
      parent?.metadata.annotations ?? {};
    if (token !== '')
      deletions.push({ what: { deletionsOf: source }, token, message, isPlanned: token === planned });
  }
  return { held: [...held, ...deletions], differences };
}

/**
 * Releases what is held, as far as it was approved. A code identifies exactly one change, so no other change is released.
 * @param subject the pull request
 * @returns whether something was released
 */
export async function releaseApproved(
  { clock, hub, namespace }: HubParts,
  held: readonly HeldAfterMerge[],
  approvals: readonly CommentApproval[],
  subject: string,
): Promise<boolean> {
  let isReleased = false;
  for (const { what, token } of held) {
    const approval = approvals.find((one) => one.token === token);
    if (approval === undefined) continue;
    const releasedBy = `${approval.by} on ${subject} at ${new Date(clock.now()).toISOString()}`;
    const release = { code: approval.token, releasedBy };
    try {
      if ('deletionsOf' in what)
        await releaseDeletions(hub, { source: what.deletionsOf, namespace }, release);
      else await releasePlacement(hub, keyOf(what.placement), release);
      isReleased = true;
    } catch (error) {
      // Nothing is held under this code any more, or not yet.
      if (!(error instanceof InputError)) throw error;
    }
  }
  return isReleased;
}

/** Who released a change, where and when. Undefined if nobody did. */
export async function releasedBy(
  { hub, namespace }: HubParts,
  { what, token }: Pick<HeldAfterMerge, 'what' | 'token'>,
): Promise<string | undefined> {
  if (token === undefined) return undefined;
  const isDeletion = 'deletionsOf' in what;
  const object = isDeletion
    ? await hub.get(CONFIG_MAP, parentOfSource(what.deletionsOf, namespace))
    : await hub.get(PLACEMENT, keyOf(what.placement));
  const annotations = object?.metadata.annotations ?? {};
  const released = isDeletion
    ? annotations[RELEASE_ANNOTATION]
    : [annotations[RELEASED_ANNOTATION], annotations[RELEASE_ANNOTATION]].join();
  if (released?.includes(token) !== true) return undefined;
  return annotations[RELEASED_BY_ANNOTATION] ?? 'an annotation in Git';
}

function keyOf(placement: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = placement.split('/');
  return { namespace, name };
}
