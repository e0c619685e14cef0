import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { type Placement, SCHEDULING_DISABLE_ANNOTATION } from '@berth/ocm/kind/placement';
import { HELD_CONDITION, SCHEDULER_ANNOTATION } from '@berth/placement/explain/verdict/names-on-placements';
import { heldCondition, type Hold } from '../judge/judge-result.ts';
import { decisionPageOf } from '../pages/decision-page.ts';
import { planPlacementStatus } from '../pages/placement-status.ts';
import { listClustersOnce } from '../record/last-publication.ts';
import {
  DONE,
  endPass,
  type PassingState,
  statusTime,
  type StepResult,
  withStage,
} from './pass/publication-in-progress.ts';
import {
  currentPages,
  pageVersions,
  recentRivalRounds,
  RIVAL_ROUNDS,
  untilForgotten,
} from './state/own-writes.ts';
import type { PlacementAction } from './state/placement-event.ts';
import type { PlacementState } from './state/placement-state.ts';

/**
 * If two schedulers write the pages of one placement, they overwrite each other endlessly: the
 * controller of OCM and Berth made 1,053 versions of one page in 30 s. Berth first disables the
 * other scheduler with the annotation of OCM. It restores its pages three times and then stops
 * writing. Its endpoints keep serving the last decision, and a condition of the placement reports
 * this. Rejected: writing more slowly. Workloads would move back and forth until a person notices.
 */

/**
 * Berth waits this long from the second round on, so that the other scheduler can see the
 * annotation.
 */
const PACE_MS = 1_000;
const REASON = 'SecondWriter';

/** The step to take before the result is judged; undefined if there is no other writer. */
export function handleSecondWriter(state: PassingState, nowMs: number): StepResult | undefined {
  const rounds = recentRivalRounds(state, nowMs);
  const newest = rounds.at(-1);
  if (newest === undefined) return undefined;
  if (rounds.length > RIVAL_ROUNDS) return yieldToOther(state, nowMs);
  const { placement } = state.pass;
  if (!state.wasAnnotated && !hasAnnotation(placement))
    return annotatePlacement({ ...state, wasAnnotated: true });
  const waitMs = PACE_MS - Math.abs(nowMs - newest);
  return rounds.length > 1 && waitMs > 0 ? endPass(state, { kind: 'requeue', afterMs: waitMs }) : undefined;
}

/**
 * Sets the annotation that disables OCM's scheduler for the placement and names Berth as its
 * scheduler.
 */
export function annotatePlacement(state: PassingState): StepResult {
  const { placement } = state.pass;
  return {
    state: withStage(state, { kind: 'annotating' }),
    actions: [{ kind: 'annotate-placement', placement }],
  };
}

/** The rest of the pass uses the version of the placement that the annotations made. */
export function withAnnotations(state: PassingState, after: KubeObject): PassingState {
  return { ...state, pass: { ...state.pass, placement: after as unknown as Placement } };
}

/** Whether Berth or a person disabled the scheduler of OCM for the placement. */
export function hasAnnotation({ metadata: { annotations } }: Placement): boolean {
  return annotations?.[SCHEDULING_DISABLE_ANNOTATION] === 'true';
}

/** Writes nothing but the condition that says that Berth stopped. */
function yieldToOther(state: PassingState, nowMs: number): StepResult {
  const { placement } = state.pass;
  const { reason, message } = secondWriterHold();
  const held: Condition = { type: HELD_CONDITION, status: 'True', reason, message };
  const now = statusTime(nowMs);
  const status = planPlacementStatus({
    current: placement.status,
    pages: undefined,
    conditions: [held],
    now,
  });
  if (status === undefined) return finishYielding(state, nowMs);
  return {
    state: withStage(state, { kind: 'yielding' }),
    actions: [{ kind: 'patch-status', placement, status }],
  };
}

/** Ends the pass. The last publication stays in force, and Berth tries again after ten minutes. */
export function finishYielding(state: PassingState, nowMs: number): StepResult {
  const isNew = state.reportedHold !== REASON;
  const reports: readonly PlacementAction[] = isNew
    ? [{ kind: 'report-held', hold: secondWriterHold(), isKnown: false }]
    : [];
  const { last, pass } = state;
  const isLastOfPlacement = last !== undefined && last.uid === pass.placement.metadata.uid;
  const finalPages: readonly PlacementAction[] = isLastOfPlacement
    ? [{ kind: 'final-pages', pages: last.pages }]
    : [];
  const newest = recentRivalRounds(state, nowMs).at(-1) ?? nowMs;
  return endPass(
    { ...state, reportedHold: REASON },
    { kind: 'requeue', afterMs: untilForgotten(newest, nowMs) },
    [...reports, ...finalPages],
  );
}

function secondWriterHold(): Hold {
  return {
    kind: 'held',
    reason: REASON,
    message:
      `Another controller keeps writing the PlacementDecisions of this placement, so Berth stopped after ${RIVAL_ROUNDS} rounds; ` +
      `its endpoints serve what it published last, and it tries again after ten minutes. End the other controller, or leave ` +
      `this placement to it: remove the annotation ${SCHEDULER_ANNOTATION}, or run Berth with --schedule upstream.`,
    added: [],
    removed: [],
    code: '',
  };
}

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

/** Placements whose pages another writer keeps changing, sorted by name. */
export function rivalPlacements(
  states: Iterable<readonly [string, PlacementState]>,
  nowMs: number,
): readonly string[] {
  const rivals: string[] = [];
  for (const [key, state] of states)
    if (recentRivalRounds(state, nowMs).length >= RIVAL_ROUNDS) rivals.push(key);
  return rivals.sort();
}
