import { namespacedName } from '../../model/object-ref.ts';
import { formatNameList } from '../../publish/judge/judge-result.ts';
import { type RemovalBudget, removalLimit } from '../../publish/judge/removal-budget.ts';
import { type Removal, removedRecently } from '../../publish/judge/removal-window.ts';
import { type Digest, planToken } from '../../publish/approval/plan-token.ts';
import { RELEASE_ANNOTATION } from '../../publish/approval/publish-annotations.ts';
import { releaseTokens } from '../../publish/approval/release-tokens.ts';
import type { PullLeaving } from './plan-pull.ts';

export interface PullRemovalInput {
  /** See removalGroup. */
  readonly group: string;
  /** Works of the group that are not being deleted, those that leave included. */
  readonly present: number;
  readonly leaving: readonly PullLeaving[];
  /** Earlier removals of the group. */
  readonly removals: readonly Removal[];
  readonly budget: RemovalBudget;
  readonly nowMs: number;
  readonly digest: Digest;
}

export type PullRemovalVerdict =
  | {
      readonly kind: 'remove';
      readonly leaving: readonly PullLeaving[];
      /** How many of them count toward the budget. */
      readonly counted: number;
    }
  | { readonly kind: 'held'; readonly token: string; readonly message: string };

/**
 * Decides whether works may be removed: within the removal budget of publication, or released by the plan token on one of them.
 * A work that another one on the same cluster replaces takes nothing away, so it does not count.
 */
export function judgePullRemovals(input: PullRemovalInput): PullRemovalVerdict {
  const { group, present, leaving, removals, budget, nowMs, digest } = input;
  const taken = leaving.filter(({ reason }) => reason !== 'replaced');
  const recent = removedRecently(removals, nowMs);
  const limit = removalLimit(budget, present + recent);
  if (taken.length === 0 || taken.length + recent <= limit)
    return { kind: 'remove', leaving, counted: taken.length };
  const names = taken.map(({ work }) => namespacedName(work.metadata)).sort();
  const token = planToken(digest, `pull ${group}`, names, []);
  if (taken.some(({ work }) => releaseTokens(work.metadata).includes(token)))
    return { kind: 'remove', leaving, counted: 0 };
  const earlier = recent > 0 ? `, after ${recent} in the last minutes` : '';
  const message =
    `${taken.length} of ${present} ManifestWorks of ${group} would be removed${earlier} (budget ${limit}): ${formatNameList(names)}. ` +
    `They stay. To approve this change, set the annotation ${RELEASE_ANNOTATION}: "${token}" on one of them.`;
  return { kind: 'held', token, message };
}
