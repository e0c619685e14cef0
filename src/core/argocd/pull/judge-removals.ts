import { namespacedName } from '@berth/kube/model/object-ref';
import { formatNameList } from '@berth/runtime/text/name-list';
import { type RemovalBudget, removalLimit } from '../../publish/judge/removal-budget.ts';
import { type Removal, removedRecently } from '../../publish/judge/removal-window.ts';
import { type Digest, approvalCode } from '../../publish/approval/approval-code.ts';
import { RELEASE_ANNOTATION } from '../../publish/approval/publish-annotations.ts';
import { releaseCodes } from '../../publish/approval/approved-plans.ts';
import type { WorkToRemove } from './plan-pull.ts';
import { setGroup } from './pull-target.ts';

export interface PullRemovalInput {
  /** See removalGroup. */
  readonly group: string;
  /** Works of the group that are not being deleted yet, including those that will be removed. */
  readonly present: number;
  readonly leaving: readonly WorkToRemove[];
  /** Earlier removals of the group. */
  readonly removals: readonly Removal[];
  readonly budget: RemovalBudget;
  readonly nowMs: number;
  readonly digest: Digest;
}

export type PullRemovalVerdict =
  | {
      readonly kind: 'remove';
      readonly leaving: readonly WorkToRemove[];
      /** The number of removals that count toward the budget. */
      readonly counted: number;
    }
  | { readonly kind: 'held'; readonly code: string; readonly message: string };

/**
 * Decides whether works may be removed: within the removal budget, or released by the approval code on one of them. A work
 * that another one on the same cluster replaces does not count.
 */
export function judgePullRemovals(input: PullRemovalInput): PullRemovalVerdict {
  const { group, present, leaving, removals, budget, nowMs, digest } = input;
  const { taken, names, code } = countedRemoval(digest, group, leaving);
  const recent = removedRecently(removals, nowMs);
  const limit = removalLimit(budget, present + recent);
  if (taken.length === 0 || taken.length + recent <= limit)
    return { kind: 'remove', leaving, counted: taken.length };
  if (taken.some(({ work }) => releaseCodes(work.metadata).includes(code)))
    return { kind: 'remove', leaving, counted: 0 };
  const earlier = recent > 0 ? `, after ${recent} in the last minutes` : '';
  const message =
    `${taken.length} of ${present} ManifestWorks of ${group} would be removed${earlier} (budget ${limit}): ${formatNameList(names)}. ` +
    `They stay. To approve this change: ${releaseCommandOf(group)} --token ${code}, ` +
    `or set the annotation ${RELEASE_ANNOTATION}: "${code}" on one of them.`;
  return { kind: 'held', code, message };
}

export interface CountedRemoval {
  /** Works whose removal leaves a cluster without the Application. */
  readonly taken: readonly WorkToRemove[];
  /** Names (`namespace/name`) of these works, sorted. */
  readonly names: readonly string[];
  /** The approval code for exactly this removal. */
  readonly code: string;
}

/** The part of a removal that counts toward the budget, and the code that approves it. */
export function countedRemoval(
  digest: Digest,
  group: string,
  leaving: readonly WorkToRemove[],
): CountedRemoval {
  const taken = leaving.filter(({ reason }) => reason !== 'replaced');
  const names = taken.map(({ work }) => namespacedName(work.metadata)).sort();
  return { taken, names, code: approvalCode(digest, `pull ${group}`, names, []) };
}

/** The arguments for a group: `ApplicationSet argocd/shop` gives `berth release --application-set argocd/shop`. */
function releaseCommandOf(group: string): string {
  const subject = group.slice(group.lastIndexOf(' ') + 1);
  return `berth release ${group === setGroup(subject) ? '--application-set' : '--applications'} ${subject}`;
}
