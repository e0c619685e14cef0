import { withWrite, changeName, whenShown } from '../state/own-writes.ts';
import { endPass } from './end-pass.ts';
import { finishPass } from './finish-pass.ts';
import type { PlacementEvent } from '../state/placement-event.ts';
import type { PlacementState, Writing } from '../state/placement-state.ts';
import { sameVersions, standingPages } from '../state/standing-pages.ts';
import { atStage, type PassingState, type Step } from '../state/step-result.ts';

/** The next write, or the step after the last one. */
export function writePages(state: PassingState, writing: Writing, nowMs: number): Step {
  const { actions, at, objects } = writing;
  const write = actions[at];
  if (write === undefined) return allWritten(withSureness(state, writing), writing, nowMs);
  const { placement } = state.pass;
  return {
    state: atStage(state, { kind: 'writing', writing }),
    actions: [{ kind: 'write-page', placement, write, before: objects.get(write.page) }],
  };
}

/** A write was answered. */
export function pageWritten(
  state: PassingState,
  writing: Writing,
  { after, seen }: Extract<PlacementEvent, { kind: 'page-written' }>,
  nowMs: number,
): Step {
  const name = writing.actions[writing.at]?.page ?? '';
  const change = { before: writing.objects.get(name), after };
  const pages = withPage(state.pages, name, whenShown(withWrite(state.pages.get(name), change), seen));
  const objects = new Map(writing.objects);
  if (after === undefined) objects.delete(name);
  else objects.set(name, after);
  const pass = { ...state.pass, made: [...state.pass.made, changeName(name, change)] };
  return writePages({ ...state, pages, pass }, { ...writing, objects, at: writing.at + 1 }, nowMs);
}

/** The pages after one write: created, changed or deleted. */
export function withPage(
  pages: PlacementState['pages'],
  name: string,
  write: ReturnType<typeof whenShown>,
): PlacementState['pages'] {
  if (pages.get(name) === write) return pages;
  const next = new Map(pages);
  if (write === undefined) next.delete(name);
  else next.set(name, write);
  return next;
}

/** If there was nothing to write and the watch shows what was read, the watch is up to date again. */
function withSureness(state: PassingState, { actions, site }: Writing): PassingState {
  if (!state.isUnsure || actions.length > 0) return state;
  const isShown = sameVersions(site.objects, standingPages(state, state.pass.facts));
  return isShown ? { ...state, isUnsure: false } : state;
}

function allWritten(state: PassingState, { site, purpose }: Writing, nowMs: number): Step {
  const { uid } = state.pass.placement.metadata;
  if (purpose.kind === 'publish') {
    const last = { uid, pages: purpose.plan.pages, leaving: undefined };
    return finishPass({ ...state, last }, { site, purpose }, nowMs);
  }
  // A page that is not remembered and that says nothing of its group: nothing is known of it.
  const isKnown = site.last !== undefined && site.last.leaving === undefined;
  const isClear = isKnown || site.pages.every(({ group }) => group !== undefined);
  const { pages } = purpose;
  const next = isClear ? { ...state, last: { uid, pages, leaving: undefined } } : state;
  if (purpose.kind === 'stay') return finishPass(next, { site, purpose }, nowMs);
  return endPass(next, { kind: 'requeue', afterMs: purpose.afterMs }, [{ kind: 'settled', pages }]);
}
