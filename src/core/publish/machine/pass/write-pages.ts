import { recordWrite, changeKey, afterShown } from '../state/own-writes.ts';
import { endPass, withStage, type PassingState, type StepResult } from './end-pass.ts';
import { finishPass } from './finish-pass.ts';
import type { PlacementEvent } from '../state/placement-event.ts';
import type { PlacementState, WritingStage } from '../state/placement-state.ts';
import { haveSameVersions, currentPages } from '../state/current-pages.ts';

/** Starts the next write, or the step after the last write. */
export function writePages(state: PassingState, writing: WritingStage, nowMs: number): StepResult {
  const { actions, at, objects } = writing;
  const write = actions[at];
  if (write === undefined) return allWritten(endUncertainty(state, writing), writing, nowMs);
  const { placement } = state.pass;
  return {
    state: withStage(state, { kind: 'writing', writing }),
    actions: [{ kind: 'write-page', placement, write, before: objects.get(write.page) }],
  };
}

/** The hub responded to a write. Starts the next one. */
export function onPageWritten(
  state: PassingState,
  writing: WritingStage,
  { after, seen }: Extract<PlacementEvent, { kind: 'page-written' }>,
  nowMs: number,
): StepResult {
  const name = writing.actions[writing.at]?.page ?? '';
  const change = { before: writing.objects.get(name), after };
  const pages = setPage(state.pages, name, afterShown(recordWrite(state.pages.get(name), change), seen));
  const objects = new Map(writing.objects);
  if (after === undefined) objects.delete(name);
  else objects.set(name, after);
  const pass = { ...state.pass, made: [...state.pass.made, changeKey(name, change)] };
  return writePages(
    { ...state, pages, pass, wroteSinceRival: true },
    { ...writing, objects, at: writing.at + 1 },
    nowMs,
  );
}

/** The pages after one write: created, changed or deleted. */
export function setPage(
  pages: PlacementState['pages'],
  name: string,
  write: ReturnType<typeof afterShown>,
): PlacementState['pages'] {
  if (pages.get(name) === write) return pages;
  const next = new Map(pages);
  if (write === undefined) next.delete(name);
  else next.set(name, write);
  return next;
}

/**
 * Ends the uncertainty after a failed write if nothing had to be written and the watch shows the
 * pages that were read.
 */
function endUncertainty(state: PassingState, { actions, passPages }: WritingStage): PassingState {
  if (!state.isUncertain || actions.length > 0) return state;
  const isShown = haveSameVersions(passPages.objects, currentPages(state, state.pass.facts));
  return isShown ? { ...state, isUncertain: false } : state;
}

function allWritten(
  state: PassingState,
  { passPages, purpose, objects }: WritingStage,
  nowMs: number,
): StepResult {
  const { uid } = state.pass.placement.metadata;
  if (purpose.kind === 'publish') {
    const last = { uid, pages: purpose.plan.pages, leaving: undefined };
    const written = { ...passPages, objects: [...objects.values()] };
    return finishPass({ ...state, last }, { passPages: written, purpose }, nowMs);
  }
  // A page without group labels has an unknown group, so the pages cannot count as published.
  const isKnown = passPages.last !== undefined && passPages.last.leaving === undefined;
  const isClear = isKnown || passPages.pages.every(({ group }) => group !== undefined);
  const { pages } = purpose;
  const next = isClear ? { ...state, last: { uid, pages, leaving: undefined } } : state;
  if (purpose.kind === 'stay') return finishPass(next, { passPages, purpose }, nowMs);
  return endPass(next, { kind: 'requeue', afterMs: purpose.afterMs }, [{ kind: 'final-pages', pages }]);
}
