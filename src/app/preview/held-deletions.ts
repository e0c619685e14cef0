import { sha256 } from '../../adapters/store/world-digest.ts';
import type { HeldDeletions } from '../../core/preview/plan.ts';
import { releaseTokens } from '../../core/publish/release-tokens.ts';
import { DEFAULT_REMOVAL_BUDGET } from '../../core/publish/removal-budget.ts';
import { planPrune, standingIdentities } from '../../core/sync/plan-prune.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { SourceFleet } from './merge-fleets.ts';

type ReadSource = Pick<Fleet, 'complete'> & SourceFleet;

/**
 * What of a source would be deleted from the hub by the merge, but only after a release: the same judgement, and the same token, as the
 * controller's, as long as the hub holds what the base says. Undefined when nothing would be held.
 */
export function heldDeletions(base: ReadSource, head: ReadSource): HeldDeletions | undefined {
  const members = base.objects.map(({ object }) => object).filter(({ kind }) => kind !== 'PlacementDecision');
  const plan = planPrune({
    source: head.name,
    members,
    wanted: new Set(head.objects.flatMap(({ object }) => standingIdentities(object))),
    complete: head.complete,
    budget: head.budget ?? DEFAULT_REMOVAL_BUDGET,
    releasedTokens: head.objects.flatMap(({ object }) => releaseTokens(object.metadata)),
    digest: sha256,
  });
  return plan.kind === 'held' ? { source: head.name, message: plan.message, token: plan.token } : undefined;
}
