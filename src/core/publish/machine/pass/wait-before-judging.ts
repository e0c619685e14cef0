import { activeHold } from '../../approval/active-hold.ts';
import type { Publication } from '../../judge/decide-publication.ts';
import { publishedClusters } from '../../pages/decision-page.ts';
import { isPlanWaiting } from '../../approval/pending-plans.ts';
import { isDisturbed } from '../state/disturbance.ts';
import type { PlacementAction } from '../state/placement-action.ts';
import type { PassPages } from '../state/placement-state.ts';
import type { PassingState } from '../state/step-result.ts';

/** Time until the next pass while a commit is partly applied. A complete commit starts it sooner. */
const PARTIAL_COMMIT_RETRY_MS = 2_000;
/** Time until the next pass while a new decision is requested, if that decision fails. */
const DECISION_RETRY_MS = 1_000;
/** Time until the next pass while a commit may still make its approved change. */
const PLAN_RETRY_MS = 500;

/** How long a result has to wait, and what to do meanwhile. */
interface Wait {
  readonly state: PassingState;
  readonly actions: readonly PlacementAction[];
  /** Milliseconds; 0 if it is not too early. */
  readonly waitMs: number;
}

/** How long the result has to wait before Berth may publish or hold it. */
export function waitBeforeJudging(
  state: PassingState,
  { published }: PassPages,
  wanted: Publication,
  nowMs: number,
): Wait {
  const { facts, placement } = state.pass;
  const moves = movesClusters(wanted);
  const endsHold = wanted.hold === undefined && activeHold(placement) !== undefined;
  // This also applies if nothing is published yet: a set or a binding that the commit deletes
  // exists until the commit is complete. A hold that ends waits too: while it exists, the commit
  // deletes nothing that the placement would lose.
  if (moves || endsHold) {
    const consistency = facts.snapshotConsistency(endsHold || isConsented(wanted));
    const waitMs = PARTIAL_COMMIT_RETRY_MS;
    if (consistency === 'partial') return { state: { ...state, waitsForCommit: true }, actions: [], waitMs };
    if (consistency === 'outdated' || isOfEarlierSpec(state))
      return { state, actions: [{ kind: 'decide-again', cause: 'inputs' }], waitMs };
  }
  let settled = state;
  if (moves && isDisturbed(state.disturbance, nowMs)) {
    if (!facts.wasDecidedKnowing(publishedClusters(published)))
      return { state, actions: [{ kind: 'decide-again', cause: 'decisions' }], waitMs: DECISION_RETRY_MS };
    settled = { ...state, disturbance: undefined };
  }
  // While the commit is partly applied, the change may differ from the plan.
  const isWaiting = wanted.approval === 'differs' && isPlanWaiting(facts.plans, nowMs);
  return { state: settled, actions: [], waitMs: isWaiting ? PLAN_RETRY_MS : 0 };
}

/**
 * Whether a release or an approved plan lets the change happen. It may have come with a commit after the result was
 * decided, and then it consents to what that commit leads to.
 */
function isConsented({ releasedToken, approval }: Publication): boolean {
  return releasedToken !== undefined || approval === 'met';
}

/**
 * Whether the result was decided from an earlier spec. A release for the new spec does not approve
 * such a result.
 */
function isOfEarlierSpec({ pass: { placement, result } }: PassingState): boolean {
  const { generation } = placement.metadata;
  return generation !== undefined && generation !== result.placement.metadata.generation;
}

function movesClusters(wanted: Publication): boolean {
  const { added, removed } = wanted.hold ?? wanted;
  return added.length + removed.length > 0;
}
