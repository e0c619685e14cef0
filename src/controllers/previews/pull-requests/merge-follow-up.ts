import { InputError } from '@berth/runtime/errors';
import { namespacedName } from '@berth/kube/model/object-ref';
import { PublishedClusters } from '@berth/placement/prior/published-clusters';
import type { KubeApi } from '@berth/kube/model/kube-api';
import {
  compareMerge,
  type MergeDifference,
  type PlacementAfterMerge,
} from '../../../core/preview/comment/merge-comparison.ts';
import { activeHold } from '../../../core/publish/approval/active-hold.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { releaseDeletions, releasePlacement } from '../../releases/release-held.ts';
import type { Release } from '../../releases/release.ts';
import type { PreviewRecord } from './preview-record.ts';

/** The differences between what is published now and what the plan of the merged pull request said. */
export function mergeDifferences(
  { expected }: Pick<PreviewRecord, 'expected'>,
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
 * Releases what the controller holds because of the merge, if it was approved on the pull request. A token identifies
 * exactly one change, so no other change is released.
 * @returns whether something was released
 */
export async function releaseApproved(
  hub: KubeApi,
  record: Pick<PreviewRecord, 'approvals' | 'expected' | 'heldDeletions'>,
  options: { readonly namespace: string; readonly subject: string; readonly now: string },
): Promise<boolean> {
  const { namespace, subject, now } = options;
  let isReleased = false;
  const attempt = async (
    token: string | undefined,
    release: (release: Release) => Promise<unknown>,
  ): Promise<void> => {
    const approval = record.approvals.find((one) => one.token === token);
    if (token === undefined || approval === undefined) return;
    try {
      await release({ token, releasedBy: `${approval.by} on ${subject} at ${now}` });
      isReleased = true;
    } catch (error) {
      // Nothing is held under this token: not yet, no longer, or because the change is another one.
      if (!(error instanceof InputError)) throw error;
    }
  };
  for (const { placement, heldToken } of record.expected) {
    const [space = '', name = ''] = placement.split('/');
    await attempt(heldToken, (release) => releasePlacement(hub, { namespace: space, name }, release));
  }
  for (const { source, token } of record.heldDeletions)
    await attempt(token, (release) => releaseDeletions(hub, { source, namespace }, release));
  return isReleased;
}
