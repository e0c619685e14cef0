import { heldCondition } from '../judge/judge-result.ts';
import { listClustersOnce } from '../record/last-publication.ts';
import { planPlacementStatus } from '../pages/placement-status.ts';
import { HELD_CONDITION } from '@berth/placement/explain/verdict/names-on-placements';
import { decisionPageOf } from '../pages/decision-page.ts';
import { endPass, withStage, DONE, type PassingState, type StepResult, statusTime } from './pass/end-pass.ts';
import { currentPages, pageVersions } from './state/current-pages.ts';

/**
 * How long the pages must be unchanged before Berth uses them. The controller of OCM writes the
 * pages of a placement one by one. Meanwhile a cluster may be on none of them.
 */
export const OTHER_SCHEDULER_QUIET_MS = 2_000;

/** Handles a placement whose owner disabled scheduling. An earlier hold by Berth ends. */
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

/** Treats the pages as published when they have not changed for `OTHER_SCHEDULER_QUIET_MS`. */
export function followOtherScheduler(state: PassingState, nowMs: number): StepResult {
  const { facts, placement } = state.pass;
  const pages = currentPages(state, facts);
  const versions = pageVersions(pages);
  const seen = state.otherSchedulerPages;
  const since = seen?.versions === versions ? seen : { versions, sinceMs: nowMs };
  const next = { ...state, otherSchedulerPages: since };
  // The first pass cannot know how long the pages have been unchanged, and does not wait.
  if (seen !== undefined && Math.abs(nowMs - since.sinceMs) < OTHER_SCHEDULER_QUIET_MS)
    return endPass(next, { kind: 'requeue', afterMs: OTHER_SCHEDULER_QUIET_MS });
  const finalPages = listClustersOnce(
    pages.map((page) => decisionPageOf(page, placement.metadata.uid)),
  ).pages;
  return endPass(next, DONE, [{ kind: 'final-pages', pages: finalPages }]);
}
