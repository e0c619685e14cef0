import { heldCondition } from '../judge/judge-result.ts';
import { listOnce } from '../pages/list-once.ts';
import { planPlacementStatus } from '../pages/placement-status.ts';
import { HELD_CONDITION } from '../approval/publish-annotations.ts';
import { decisionPageOf } from '../pages/decision-page.ts';
import { endPass } from './pass/end-pass.ts';
import { standingPages } from './state/standing-pages.ts';
import { statusTime } from './state/status-time.ts';
import { atStage, DONE, type PassingState, type Step } from './state/step-result.ts';

/**
 * OCM's controller writes the pages of a placement one by one and may list a cluster on none of them meanwhile. Pages
 * count after this time without changes.
 */
export const OTHERS_QUIET_MS = 2_000;

/** Handles a placement whose owner disabled scheduling: an earlier hold of Berth ends. */
export function leaveToOthers(state: PassingState, nowMs: number): Step {
  const { placement } = state.pass;
  const existing = placement.status?.conditions?.find(({ type }) => type === HELD_CONDITION);
  const over = existing?.status === 'True' ? heldCondition(undefined, existing) : undefined;
  const status =
    over &&
    planPlacementStatus({
      current: placement.status,
      pages: undefined,
      conditions: [{ ...over, reason: 'LeftToOthers' }],
      now: statusTime(nowMs),
    });
  if (status === undefined) return followOthers(state, nowMs);
  return {
    state: atStage(state, { kind: 'leaving' }),
    actions: [{ kind: 'patch-status', placement, status }],
  };
}

/** What is on the pages counts as published once it has not changed for a while. */
export function followOthers(state: PassingState, nowMs: number): Step {
  const { facts, placement } = state.pass;
  const pages = standingPages(state, facts);
  const versions = JSON.stringify(
    pages.map(({ metadata }) => [metadata.name, metadata.resourceVersion]).sort(),
  );
  const seen = state.ofOthers;
  const since = seen?.versions === versions ? seen : { versions, sinceMs: nowMs };
  const next = { ...state, ofOthers: since };
  // At the first look it is not known how long they have rested; what was published before may be older still.
  if (seen !== undefined && Math.abs(nowMs - since.sinceMs) < OTHERS_QUIET_MS)
    return endPass(next, { kind: 'requeue', afterMs: OTHERS_QUIET_MS });
  const settled = listOnce(pages.map((page) => decisionPageOf(page, placement.metadata.uid))).pages;
  return endPass(next, DONE, [{ kind: 'settled', pages: settled }]);
}
