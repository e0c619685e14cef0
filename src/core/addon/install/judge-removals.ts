import type { ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import { formatNameList } from '@berth/runtime/text/name-list';
import { type Digest, approvalCode } from '../../publish/approval/approval-code.ts';
import { releaseCodes } from '../../publish/approval/approved-plans.ts';
import { RELEASE_ANNOTATION } from '../../publish/approval/publish-annotations.ts';
import { type RemovalBudget, removalLimit } from '../../publish/judge/removal-budget.ts';
import { type Removal, removedRecently } from '../../publish/judge/removal-window.ts';

export interface AddOnRemovalInput {
  readonly addOn: string;
  /** Clusters that have the add-on and do not lose it already, those included that would. */
  readonly present: number;
  readonly leaving: readonly ManagedClusterAddOn[];
  /** Earlier removals of the add-on. */
  readonly removals: readonly Removal[];
  readonly budget: RemovalBudget;
  readonly nowMs: number;
  readonly digest: Digest;
}

export type AddOnRemovalVerdict =
  | { readonly kind: 'remove' /** How many count toward the budget. */; readonly counted: number }
  | { readonly kind: 'held'; readonly code: string; readonly message: string };

/** In the memory of removals, which has those of pulled Applications, too. */
export function removalGroupOf(addOn: string): string {
  return `add-on ${addOn}`;
}

/**
 * Decides whether clusters may lose an add-on, all of them or none: an agent goes with its certificates and its access at once, so
 * this counts like a decision that removes clusters. The approval code is on one of the ManagedClusterAddOns, and goes with it.
 */
export function judgeAddOnRemovals(input: AddOnRemovalInput): AddOnRemovalVerdict {
  const { addOn, present, leaving, removals, budget, nowMs, digest } = input;
  const { clusters, code } = leavingClusters(digest, addOn, leaving);
  const recent = removedRecently(removals, nowMs);
  const limit = removalLimit(budget, present + recent);
  if (leaving.length + recent <= limit) return { kind: 'remove', counted: leaving.length };
  if (leaving.some(({ metadata }) => releaseCodes(metadata).includes(code)))
    return { kind: 'remove', counted: 0 };
  const earlier = recent > 0 ? `, after ${recent} in the last minutes` : '';
  const message =
    `${leaving.length} of ${present} clusters would lose add-on ${addOn}${earlier} (budget ${limit}): ${formatNameList(clusters)}. ` +
    `They keep it. To approve this change: berth release --addon ${addOn} --token ${code}, ` +
    `or set the annotation ${RELEASE_ANNOTATION}: "${code}" on one of their ManagedClusterAddOns.`;
  return { kind: 'held', code, message };
}

/** The clusters that would lose an add-on, sorted, and the code that approves exactly this. */
export function leavingClusters(
  digest: Digest,
  addOn: string,
  leaving: readonly ManagedClusterAddOn[],
): { readonly clusters: readonly string[]; readonly code: string } {
  const clusters = leaving.map(({ metadata }) => metadata.namespace ?? '').sort();
  return { clusters, code: approvalCode(digest, removalGroupOf(addOn), clusters, []) };
}
