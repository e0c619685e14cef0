import { rememberBeforeRestore } from './before-restore.ts';
import { endPass } from './pass/end-pass.ts';
import { onPassFailed } from './pass/fail-pass.ts';
import {
  endPassIfComplete,
  onPublicationRecorded,
  settlePublication,
  onStatusWritten,
} from './pass/finish-pass.ts';
import { onFoundRecorded } from './pass/judge-pages.ts';
import { onPlacementGone, beginPass, onPageFenced, onPagesRead, onPlacementMarked } from './begin-pass.ts';
import { followOtherScheduler } from './other-scheduler.ts';
import type { PlacementEvent } from './state/placement-event.ts';
import type { PlacementState } from './state/placement-state.ts';
import type { PassingState, StepResult } from './state/step-result.ts';
import { finishYielding } from './second-writer.ts';
import { onPageChanged, onPagesListed, onPlacementChanged } from './watch-events.ts';
import { onPageWritten, writePages } from './pass/write-pages.ts';

/**
 * Handles one event of a placement. Pure: the caller applies the returned actions and reports their
 * responses as events. A response that the current stage does not wait for changes nothing.
 *
 * Rejected: one object for each concern (own writes, changes by others, records, waits) that a
 * publisher calls. Their interaction depended on the order of calls and could not be tested.
 */
export function step(state: PlacementState, event: PlacementEvent, nowMs: number): StepResult {
  switch (event.kind) {
    case 'reconcile':
      return state.pass === undefined ? beginPass(state, event.facts, nowMs) : unchanged(state);
    case 'gone':
      return state.pass === undefined ? onPlacementGone(state) : unchanged(state);
    case 'page-changed':
      return onPageChanged(state, event, nowMs);
    case 'pages-listed':
      return onPagesListed(state, event, nowMs);
    case 'placement-changed':
      return onPlacementChanged(state, event);
    case 'commit-complete':
      if (!state.waitsForCommit) return unchanged(state);
      return { state: { ...state, waitsForCommit: false }, actions: [{ kind: 'enqueue' }] };
    case 'works-changed':
      // A make-before-break move waits for works.
      return { state, actions: state.remembered?.move === undefined ? [] : [{ kind: 'enqueue' }] };
    case 'hub-changed':
      return unchanged(onHubChanged(state, rememberBeforeRestore(state, event.atRestore)));
    default:
      return isPassing(state) ? onResponse(state, event, nowMs) : unchanged(state);
  }
}

/** An event that is the response to an action of the pass. */
type ResponseEvent = Extract<
  PlacementEvent,
  {
    kind:
      | 'pages-read'
      | 'page-fenced'
      | 'page-written'
      | 'status-written'
      | 'placement-marked'
      | 'persisted'
      | 'resumed'
      | 'recorded'
      | 'failed'
      | 'abandoned';
  }
>;

function onResponse(state: PassingState, event: ResponseEvent, nowMs: number): StepResult {
  const { stage } = state.pass;
  switch (event.kind) {
    case 'pages-read':
      return stage.kind === 'reading' ? onPagesRead(state, event, nowMs) : unchanged(state);
    case 'page-fenced':
      return stage.kind === 'fencing' ? onPageFenced(state, stage, event, nowMs) : unchanged(state);
    case 'persisted':
      return stage.kind === 'persisting' ? writePages(state, stage.writing, nowMs) : unchanged(state);
    case 'page-written':
      return stage.kind === 'writing' ? onPageWritten(state, stage.writing, event, nowMs) : unchanged(state);
    case 'status-written': {
      const written = onStatusWritten(state, event);
      if (stage.kind === 'leaving') return followOtherScheduler(written, nowMs);
      if (stage.kind === 'yielding') return finishYielding(written, nowMs);
      if (stage.kind !== 'finishing') return unchanged(state);
      return endPassIfComplete(written, { ...stage.finishing, isPatching: false });
    }
    case 'placement-marked':
      return stage.kind === 'marking' ? onPlacementMarked(state, event, nowMs) : unchanged(state);
    case 'resumed':
      return stage.kind === 'finishing' ? settlePublication(state, stage.finishing, nowMs) : unchanged(state);
    case 'recorded':
      if (stage.kind === 'recording-found') return onFoundRecorded(state, stage, event.hash, nowMs);
      if (stage.kind !== 'finishing') return unchanged(state);
      return onPublicationRecorded(state, stage.finishing, event.hash);
    case 'failed':
      return onPassFailed(state, event, nowMs);
    case 'abandoned':
      return endPass({ ...state, isUncertain: true }, { kind: 'failed', error: event.error });
  }
}

/**
 * Forgets the own writes: after a restore of the hub, an old resource version may name new content.
 * The next pass reads the pages from the hub, because the watch may still show some pages from
 * before and some from after the restore. Unless the last publication is known exactly, pages of
 * the backup may count as published, and they are compared with the records again.
 */
function onHubChanged(
  before: PlacementState,
  beforeRestore: PlacementState['beforeRestore'],
): PlacementState {
  const pass = before.pass && { ...before.pass, made: [] };
  const isKnown = before.last !== undefined && before.last.leaving === undefined;
  const isCompared = before.isCompared && isKnown;
  const state = { ...before, beforeRestore, isCompared, pass };
  return { ...state, pages: new Map(), status: undefined, isUncertain: true };
}

function isPassing(state: PlacementState): state is PassingState {
  return state.pass !== undefined;
}

function unchanged(state: PlacementState): StepResult {
  return { state, actions: [] };
}
