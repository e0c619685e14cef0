import { canonicalJson } from '../../../core/model/json-equal.ts';
import { sha256 } from '../../../runtime/sha256.ts';
import type { PlannedPullRequest } from './plan-pull-request.ts';

/** Of what a plan says; not of when it was made, and of what. */
export function outcomeDigest({ outcome }: Pick<PlannedPullRequest, 'outcome'>): string {
  const said =
    outcome.kind === 'planned' ? { ...outcome, plan: { ...outcome.plan, now: '', token: '' } } : outcome;
  return sha256(canonicalJson(said));
}
