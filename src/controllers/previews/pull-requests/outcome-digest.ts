import { canonicalJson } from '@berth/runtime/json/json-equal';
import { sha256 } from '@berth/runtime/sha256';
import type { PlannedPullRequest } from './plan-pull-request.ts';

/** A digest of what a plan says, without the commits and the time that it was made from. */
export function outcomeDigest({ outcome }: Pick<PlannedPullRequest, 'outcome'>): string {
  const content =
    outcome.kind === 'planned' ? { ...outcome, plan: { ...outcome.plan, now: '', token: '' } } : outcome;
  return sha256(canonicalJson(content));
}
