import { whenShown } from './state/own-writes.ts';
import { placementNow } from './pass/decide-now.ts';
import { judgePages } from './pass/judge-pages.ts';
import { leaveToOthers } from './pages-of-others.ts';
import type { PlacementEvent } from './state/placement-event.ts';
import type { Facts } from './state/placement-facts.ts';
import { INITIAL_STATE, type OwnWrite, type PlacementState } from './state/placement-state.ts';
import { standingPages } from './state/standing-pages.ts';
import { atStage, DONE, type PassingState, type Step } from './state/step-result.ts';

/** Begins a pass. What to do follows from the facts alone. */
export function look(before: PlacementState, facts: Facts, nowMs: number): Step {
  const { result } = facts;
  const known = { ...before, remembered: facts.remembered, pages: shownPages(before.pages, facts) };
  const placement = placementNow(known, facts);
  if (placement.metadata.deletionTimestamp !== undefined) return gone(known);
  // Not scheduled, or as another object of this name.
  if (result === undefined || result.placement.metadata.uid !== placement.metadata.uid)
    return { state: known, actions: [{ kind: 'end', end: DONE }] };
  const stage = { kind: 'reading' } as const;
  const pass = { facts, placement, result, stage, isRead: false, early: [], made: [] };
  if (result.outcome === 'skipped')
    return leaveToOthers({ ...known, last: undefined, disturbance: undefined, pass }, nowMs);
  const state = { ...known, ofOthers: undefined, pass };
  if (!state.isUnsure) return judgePages(state, standingPages(state, facts), nowMs);
  return { state: { ...state, pages: new Map() }, actions: [{ kind: 'read-pages', placement }] };
}

/** The pages on the hub are known; those that a lost write may still reach get another version first. */
export function pagesRead(
  state: PassingState,
  { pages, seen }: Extract<PlacementEvent, { kind: 'pages-read' }>,
  nowMs: number,
): Step {
  const isSuspect = ({ metadata }: (typeof pages)[number]): boolean => state.suspects.includes(metadata.name);
  const ready = pages.filter((page) => !isSuspect(page));
  const facts = { ...state.pass.facts, pages: seen };
  const next = { ...state, pass: { ...state.pass, facts, isRead: true } };
  return fence(next, { ready, left: pages.filter(isSuspect) }, nowMs);
}

export function pageFenced(
  state: PassingState,
  stage: Extract<PassingState['pass']['stage'], { kind: 'fencing' }>,
  { page }: Extract<PlacementEvent, { kind: 'page-fenced' }>,
  nowMs: number,
): Step {
  const suspects = state.suspects.filter((name) => name !== page.metadata.name);
  const pages = { ready: [...stage.ready, page], left: stage.left.slice(1) };
  return fence({ ...state, suspects }, pages, nowMs);
}

type Fencing = Pick<Extract<PassingState['pass']['stage'], { kind: 'fencing' }>, 'ready' | 'left'>;

function fence(state: PassingState, pages: Fencing, nowMs: number): Step {
  const [page] = pages.left;
  if (page === undefined) return judgePages(state, pages.ready, nowMs);
  return {
    state: atStage(state, { kind: 'fencing', ...pages }),
    actions: [{ kind: 'fence-page', page }],
  };
}

/** Own writes that the watch does not show yet are kept: a placement that is made again under this name begins with them. */
export function gone(state: PlacementState): Step {
  const { pages, status, isUnsure, suspects, isCompared, beforeRestore, rivalWritesAtMs } = state;
  const kept = { pages, status, isUnsure, suspects, isCompared, beforeRestore, rivalWritesAtMs };
  return {
    state: { ...INITIAL_STATE, ...kept },
    actions: [{ kind: 'forget' }, { kind: 'settled', pages: [] }, { kind: 'end', end: DONE }],
  };
}

/** Drops what the watch is ahead of, also where it showed no change of the page as one of this placement. */
function shownPages(pages: PlacementState['pages'], { seenPage }: Facts): PlacementState['pages'] {
  let next: Map<string, OwnWrite> | undefined;
  for (const [name, write] of pages) {
    const shown = whenShown(write, seenPage(name));
    if (shown === write) continue;
    next ??= new Map(pages);
    if (shown === undefined) next.delete(name);
    else next.set(name, shown);
  }
  return next ?? pages;
}
