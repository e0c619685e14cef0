import type { CompactRecord } from './compact-record.ts';
import { addSpentCode } from '../approval/approval-code.ts';
import type { PublishState } from '../judge/publish-state.ts';
import { recentRemovals, type Removal } from '../judge/removal-budget.ts';

/** The part of a record that says what counts toward the budget. */
export type CountedRecord = Pick<
  CompactRecord,
  'spec' | 'publishedAt' | 'released' | 'afterRestart' | 'counts'
> & { readonly removed: { readonly count: number } };

/**
 * The state of a placement that another process published, from the records on the hub. It says
 * which removals count toward the budget and which releases are used. Removals under an earlier
 * spec do not count. Records of earlier releases of Berth name no spec; they count as records of
 * the current spec. Removals of an `afterRestart` record count only if the record has `counts`.
 *
 * @param records the records of the placement, oldest first
 * @returns undefined when there is no valid record
 */
export function stateFromRecords(
  records: readonly CountedRecord[],
  now: {
    readonly specHash: string;
    readonly nowMs: number;
    /**
     * Creation time of the placement (RFC 3339). Records of an earlier placement with the same name
     * are ignored.
     */
    readonly createdAt?: string | null | undefined;
  },
): PublishState | undefined {
  const sinceMs = now.createdAt == null ? -Infinity : Date.parse(now.createdAt);
  const usable = records.filter((record) => isValid(record) && !(Date.parse(record.publishedAt) < sinceMs));
  const newest = usable.at(-1);
  if (newest === undefined) return undefined;
  let removals: readonly Removal[] = [];
  let spent: readonly string[] | undefined;
  let specOfRemovals: string | undefined;
  for (const { spec = now.specHash, publishedAt, removed, released, afterRestart, counts } of usable) {
    const count = removed.count;
    if (spec !== specOfRemovals) removals = [];
    specOfRemovals = spec;
    // A release resets the removals.
    if (released != null) {
      removals = [];
      spent = addSpentCode(spent, released.token);
    } else if (count > 0 && (afterRestart !== true || counts === true))
      removals = [...removals, { atMs: Date.parse(publishedAt), count }];
  }
  return {
    specHash: newest.spec ?? now.specHash,
    publishedAtMs: Date.parse(newest.publishedAt),
    removals: recentRemovals(removals, now.nowMs),
    spent,
    recalled: true,
  };
}

/** Whether the fields of a record are valid. Other programs may change the ConfigMap. */
function isValid({ publishedAt, removed, released }: Partial<CountedRecord>): boolean {
  const isReleaseValid = released == null || typeof released.token === 'string';
  return (
    !Number.isNaN(Date.parse(publishedAt ?? '')) && Number.isSafeInteger(removed?.count) && isReleaseValid
  );
}
