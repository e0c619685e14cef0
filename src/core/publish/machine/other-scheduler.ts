import { heldCondition } from '../judge/judge-result.ts';
import { listClustersOnce } from '../pages/list-clusters-once.ts';
import { planPlacementStatus } from '../pages/placement-status.ts';
import { HELD_CONDITION } from '../approval/publish-annotations.ts';
import { decisionPageOf } from '../pages/decision-page.ts';
import { endPass } from './pass/end-pass.ts';
import { currentPages } from './state/current-pages.ts';
import { statusTime } from './state/status-time.ts';
import { withStage, DONE, type PassingState, type StepResult } from './state/step-result.ts';

/**
 * OCM's controller writes the pages of a placement one by one, and a cluster may temporarily be on
 * none of them. Pages are used after this time without changes.
 */
export const OTHER_SCHEDULER_QUIET_MS = 2_000;

/** Handles a placement whose owner disabled scheduling: an earlier hold of Berth ends. */
export function leaveToOtherScheduler(state: PassingState, nowMs: number): StepResult {
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
  if (status === undefined) return followOtherScheduler(state, nowMs);
  return {
    state: withStage(state, { kind: 'leaving' }),
    actions: [{ kind: 'patch-status', placement, status }],
  };
}

/** The pages count as published when they have not changed for a while. */
export function followOtherScheduler(state: PassingState, nowMs: number): StepResult {
  const { facts, placement } = state.pass;
  const pages = currentPages(state, facts);
  const versions = JSON.stringify(
    pages.map(({ metadata }) => [metadata.name, metadata.resourceVersion]).sort(),
  );
  const seen = state.otherSchedulerPages;
  const since = seen?.versions === versions ? seen : { versions, sinceMs: nowMs };
  const next = { ...state, otherSchedulerPages: since };
  // In the first pass it is not known how long the pages have been unchanged.
  if (seen !== undefined && Math.abs(nowMs - since.sinceMs) < OTHER_SCHEDULER_QUIET_MS)
    return endPass(next, { kind: 'requeue', afterMs: OTHER_SCHEDULER_QUIET_MS });
  const settled = listClustersOnce(pages.map((page) => decisionPageOf(page, placement.metadata.uid))).pages;
  return endPass(next, DONE, [{ kind: 'settled', pages: settled }]);
}
