import type { CompactRecord } from './compact-record.ts';
import { withSpent } from './plan-token.ts';
import type { PublishState } from './publish-state.ts';
import { recentRemovals, type Removal } from './removal-window.ts';

/**
 * What a process that did not publish a placement itself can know of its past, from the records on the hub: which removals count toward
 * its budget, and which releases are used up. What was made of which spec no record says: the one of now is taken, so that removals of
 * a spec before it count as well. A record that a start made of what it found tells of no removal of its own.
 *
 * @param records those of the placement, oldest first
 * @returns undefined when there is none
 */
export function recallState(
  records: readonly CompactRecord[],
  now: { readonly specHash: string; readonly nowMs: number },
): PublishState | undefined {
  const usable = records.filter(isWhole);
  const newest = usable.at(-1);
  if (newest === undefined) return undefined;
  let removals: readonly Removal[] = [];
  let spent: readonly string[] | undefined;
  for (const { publishedAt, removed, released, afterRestart } of usable) {
    const count = removed.count;
    // A release begins anew.
    if (released != null) {
      removals = [];
      spent = withSpent(spent, released.token);
    } else if (count > 0 && afterRestart !== true)
      removals = [...removals, { atMs: Date.parse(publishedAt), count }];
  }
  return {
    specHash: now.specHash,
    publishedAtMs: Date.parse(newest.publishedAt),
    removals: recentRemovals(removals, now.nowMs),
    spent,
    recalled: true,
  };
}

/** Others may write where records are kept. */
function isWhole({ publishedAt, removed, released }: Partial<CompactRecord>): boolean {
  const isReleaseWhole = released == null || typeof released.token === 'string';
  return (
    !Number.isNaN(Date.parse(publishedAt ?? '')) && Number.isSafeInteger(removed?.count) && isReleaseWhole
  );
}
