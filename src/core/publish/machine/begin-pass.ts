import { SCHEDULING_DISABLE_ANNOTATION } from '@berth/ocm/kind/placement';
import { afterShown } from './state/own-writes.ts';
import { withLatestStatus } from './pass/decide-from-facts.ts';
import { endPass } from './pass/end-pass.ts';
import { judgePages } from './pass/judge-pages.ts';
import { leaveToOtherScheduler } from './other-scheduler.ts';
import { markPlacement, handleSecondWriter, withMark } from './second-writer.ts';
import type { PlacementEvent } from './state/placement-event.ts';
import type { PassFacts } from './state/placement-facts.ts';
import { INITIAL_STATE, type OwnWrite, type PlacementState } from './state/placement-state.ts';
import { currentPages } from './state/current-pages.ts';
import { withStage, DONE, type PassingState, type StepResult } from './state/step-result.ts';

/** Begins a pass. Only the facts determine what the pass does, not what caused it. */
export function beginPass(before: PlacementState, facts: PassFacts, nowMs: number): StepResult {
  const { result } = facts;
  const known = { ...before, remembered: facts.remembered, pages: shownPages(before.pages, facts) };
  const placement = withLatestStatus(known, facts);
  if (placement.metadata.deletionTimestamp !== undefined) return onPlacementGone(known);
  // The placement was not scheduled yet, or an earlier placement with this name was.
  if (result === undefined || result.placement.metadata.uid !== placement.metadata.uid)
    return { state: known, actions: [{ kind: 'end', end: DONE }] };
  const stage = { kind: 'reading' } as const;
  const pass = { facts, placement, result, stage, isRead: false, early: [], made: [] };
  if (result.outcome === 'skipped') {
    const left = { ...known, last: undefined, beforeRestore: undefined, disturbance: undefined, pass };
    if (facts.isOfSource && placement.metadata.annotations?.[SCHEDULING_DISABLE_ANNOTATION] === undefined)
      return markPlacement(left);
    return leaveToOtherScheduler(left, nowMs);
  }
  const state = { ...known, otherSchedulerPages: undefined, pass };
  return handleSecondWriter(state, nowMs) ?? checkPages(state, nowMs);
}

/**
 * The placement has the mark of Berth now. If Berth skipped the placement before, the watch event
 * of the mark requests a decision.
 */
export function onPlacementMarked(
  state: PassingState,
  { after }: Extract<PlacementEvent, { kind: 'placement-marked' }>,
  nowMs: number,
): StepResult {
  if (state.pass.result.outcome === 'skipped') return endPass(state, DONE);
  return checkPages(withMark(state, after), nowMs);
}

function checkPages(before: PassingState, nowMs: number): StepResult {
  const { facts, placement } = before.pass;
  const state = withStage(before, { kind: 'reading' });
  if (!state.isUncertain) return judgePages(state, currentPages(state, facts), nowMs);
  return { state: { ...state, pages: new Map() }, actions: [{ kind: 'read-pages', placement }] };
}

/**
 * The pages were read from the hub. A lost write may still reach some of them. Their versions are
 * changed first (fencing), so that the lost write fails.
 */
export function onPagesRead(
  state: PassingState,
  { pages, seen }: Extract<PlacementEvent, { kind: 'pages-read' }>,
  nowMs: number,
): StepResult {
  const isSuspect = ({ metadata }: (typeof pages)[number]): boolean => state.suspects.includes(metadata.name);
  const ready = pages.filter((page) => !isSuspect(page));
  const facts = { ...state.pass.facts, pages: seen };
  const next = { ...state, pass: { ...state.pass, facts, isRead: true } };
  return fence(next, { ready, left: pages.filter(isSuspect) }, nowMs);
}

export function onPageFenced(
  state: PassingState,
  stage: Extract<PassingState['pass']['stage'], { kind: 'fencing' }>,
  { page }: Extract<PlacementEvent, { kind: 'page-fenced' }>,
  nowMs: number,
): StepResult {
  const suspects = state.suspects.filter((name) => name !== page.metadata.name);
  const pages = { ready: [...stage.ready, page], left: stage.left.slice(1) };
  return fence({ ...state, suspects }, pages, nowMs);
}

type Fencing = Pick<Extract<PassingState['pass']['stage'], { kind: 'fencing' }>, 'ready' | 'left'>;

function fence(state: PassingState, pages: Fencing, nowMs: number): StepResult {
  const [page] = pages.left;
  if (page === undefined) return judgePages(state, pages.ready, nowMs);
  return {
    state: withStage(state, { kind: 'fencing', ...pages }),
    actions: [{ kind: 'fence-page', page }],
  };
}

/**
 * The placement was deleted. The state keeps own writes that the watch does not show yet, because a
 * new placement with this name may need them.
 */
export function onPlacementGone(state: PlacementState): StepResult {
  const { pages, status, isUncertain, suspects, isCompared, beforeRestore, rivalRoundsAtMs } = state;
  const kept = { pages, status, isUncertain, suspects, isCompared, beforeRestore, rivalRoundsAtMs };
  return {
    state: { ...INITIAL_STATE, ...kept },
    actions: [{ kind: 'forget' }, { kind: 'settled', pages: [] }, { kind: 'end', end: DONE }],
  };
}

/**
 * Drops own writes that are older than what the watch shows. The watch may show a newer page
 * without an event for this placement.
 */
function shownPages(pages: PlacementState['pages'], { seenPage }: PassFacts): PlacementState['pages'] {
  let next: Map<string, OwnWrite> | undefined;
  for (const [name, write] of pages) {
    const shown = afterShown(write, seenPage(name));
    if (shown === write) continue;
    next ??= new Map(pages);
    if (shown === undefined) next.delete(name);
    else next.set(name, shown);
  }
  return next ?? pages;
}
