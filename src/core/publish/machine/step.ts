import { keptBeforeRestore } from './before-restore.ts';
import { endPass } from './pass/end-pass.ts';
import { passFailed } from './pass/fail-pass.ts';
import {
  finishWhenAnswered,
  publicationRecorded,
  settlePublication,
  statusWritten,
} from './pass/finish-pass.ts';
import { foundRecorded } from './pass/judge-pages.ts';
import { gone, look, pageFenced, pagesRead } from './look.ts';
import { followOthers } from './pages-of-others.ts';
import type { PlacementEvent } from './state/placement-event.ts';
import type { PlacementState } from './state/placement-state.ts';
import type { PassingState, Step } from './state/step-result.ts';
import { pageChanged, placementChanged } from './watch-events.ts';
import { pageWritten, writePages } from './pass/write-pages.ts';

/**
 * Handles one event of a placement. Pure: the state is all that publishing knows of the placement, the actions are
 * all that it does; the caller applies them and reports the answers as events. An answer that no stage waits for
 * changes nothing.
 *
 * The alternative was one object for each concern (own writes, changes by others, records, waits), called by one that
 * publishes: what one of them did in the middle of another's call could not be tested, and depended on the order of
 * the calls.
 */
export function step(state: PlacementState, event: PlacementEvent, nowMs: number): Step {
  switch (event.kind) {
    case 'look':
      return state.pass === undefined ? look(state, event.facts, nowMs) : unchanged(state);
    case 'gone':
      return state.pass === undefined ? gone(state) : unchanged(state);
    case 'page-changed':
      return pageChanged(state, event, nowMs);
    case 'placement-changed':
      return placementChanged(state, event);
    case 'commit-whole':
      if (!state.waitsForCommit) return unchanged(state);
      return { state: { ...state, waitsForCommit: false }, actions: [{ kind: 'look-again' }] };
    case 'works-changed':
      // A make-before-break move waits for works.
      return { state, actions: state.remembered?.move === undefined ? [] : [{ kind: 'look-again' }] };
    case 'hub-changed':
      return unchanged(forgetWrites({ ...state, beforeRestore: keptBeforeRestore(state, event.standby) }));
    default:
      return isPassing(state) ? answered(state, event, nowMs) : unchanged(state);
  }
}

type Answer = Extract<
  PlacementEvent,
  {
    kind:
      | 'pages-read'
      | 'page-fenced'
      | 'page-written'
      | 'status-written'
      | 'persisted'
      | 'resumed'
      | 'recorded'
      | 'failed'
      | 'abandoned';
  }
>;

function answered(state: PassingState, event: Answer, nowMs: number): Step {
  const { stage } = state.pass;
  switch (event.kind) {
    case 'pages-read':
      return stage.kind === 'reading' ? pagesRead(state, event, nowMs) : unchanged(state);
    case 'page-fenced':
      return stage.kind === 'fencing' ? pageFenced(state, stage, event, nowMs) : unchanged(state);
    case 'persisted':
      return stage.kind === 'persisting' ? writePages(state, stage.writing, nowMs) : unchanged(state);
    case 'page-written':
      return stage.kind === 'writing' ? pageWritten(state, stage.writing, event, nowMs) : unchanged(state);
    case 'status-written': {
      const written = statusWritten(state, event);
      if (stage.kind === 'leaving') return followOthers(written, nowMs);
      if (stage.kind !== 'finishing') return unchanged(state);
      return finishWhenAnswered(written, { ...stage.finishing, isPatching: false });
    }
    case 'resumed':
      return stage.kind === 'finishing' ? settlePublication(state, stage.finishing, nowMs) : unchanged(state);
    case 'recorded':
      if (stage.kind === 'recording-found') return foundRecorded(state, stage, event.hash, nowMs);
      if (stage.kind !== 'finishing') return unchanged(state);
      return publicationRecorded(state, stage.finishing, event.hash);
    case 'failed':
      return passFailed(state, event, nowMs);
    case 'abandoned':
      return endPass({ ...state, isUnsure: true }, { kind: 'failed', error: event.error });
  }
}

/** A version from before the hub changed may now name a new state. */
function forgetWrites(state: PlacementState): PlacementState {
  const pass = state.pass && { ...state.pass, made: [] };
  return { ...state, pages: new Map(), status: undefined, pass };
}

function isPassing(state: PlacementState): state is PassingState {
  return state.pass !== undefined;
}

function unchanged(state: PlacementState): Step {
  return { state, actions: [] };
}
