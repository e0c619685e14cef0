import { hasReachedVersion } from '@berth/kube/model/resource-version';
import { SCHEDULING_DISABLE_ANNOTATION } from '@berth/ocm/kind/placement';
import { hasGroup } from '../pages/decision-page.ts';
import { rememberBeforeRestore, rememberAfterChange } from './before-restore.ts';
import { withLatestStatus } from './pass/decide-from-facts.ts';
import {
  endPassIfComplete,
  onPageWritten,
  onPublicationRecorded,
  onStatusWritten,
  setPage,
  settlePublication,
  writePages,
} from './pass/finish-pass.ts';
import { onFoundRecorded, judgePages } from './pass/judge-pages.ts';
import {
  DONE,
  endPass,
  leavingClusters,
  type PassingState,
  stateUnderWay,
  type StepResult,
  withStage,
} from './pass/publication-in-progress.ts';
import {
  annotatePlacement,
  finishYielding,
  followOtherScheduler,
  handleSecondWriter,
  leaveToOtherScheduler,
  withAnnotations,
} from './second-writer.ts';
import {
  afterShown,
  changeKey,
  currentPages,
  isOwnWrite,
  isWatchBehind,
  noteRivalWrite,
} from './state/own-writes.ts';
import type { PlacementEvent } from './state/placement-event.ts';
import {
  INITIAL_STATE,
  type OwnWrite,
  type PassFacts,
  type PlacementState,
  type UnattributedChange,
  type WritingStage,
} from './state/placement-state.ts';

/**
 * Limit of the changes that a pass keeps until its writes have responses. A pass writes a few hundred
 * pages at most, so changes beyond the limit come from others.
 */
const MAX_EARLY = 1_000;

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
      // A handover waits for works.
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
      | 'placement-annotated'
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
    case 'placement-annotated':
      return stage.kind === 'annotating' ? onPlacementAnnotated(state, event, nowMs) : unchanged(state);
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

/** Begins a pass. Only the facts determine what the pass does, not what caused it. */
function beginPass(before: PlacementState, facts: PassFacts, nowMs: number): StepResult {
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
      return annotatePlacement(left);
    return leaveToOtherScheduler(left, nowMs);
  }
  const state = { ...known, otherSchedulerPages: undefined, pass };
  return handleSecondWriter(state, nowMs) ?? checkPages(state, nowMs);
}

/**
 * The placement has the annotation of Berth now. If Berth skipped the placement before, the watch event
 * of the annotation requests a decision.
 */
function onPlacementAnnotated(
  state: PassingState,
  { after }: Extract<PlacementEvent, { kind: 'placement-annotated' }>,
  nowMs: number,
): StepResult {
  if (state.pass.result.outcome === 'skipped') return endPass(state, DONE);
  return checkPages(withAnnotations(state, after), nowMs);
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
function onPagesRead(
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

function onPageFenced(
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
function onPlacementGone(state: PlacementState): StepResult {
  const { pages, status, isUncertain, suspects, isCompared, beforeRestore, rivalRoundsAtMs } = state;
  const kept = { pages, status, isUncertain, suspects, isCompared, beforeRestore, rivalRoundsAtMs };
  return {
    state: { ...INITIAL_STATE, ...kept },
    actions: [{ kind: 'forget' }, { kind: 'final-pages', pages: [] }, { kind: 'end', end: DONE }],
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

/**
 * The watch showed a change of a page. Berth expects its own writes. A write by others requires a
 * new decision.
 */
function onPageChanged(
  before: PlacementState,
  event: Extract<PlacementEvent, { kind: 'page-changed' }>,
  nowMs: number,
): StepResult {
  const { change, isLeader, isPlacementThere } = event;
  const name = (change.after ?? change.before)?.metadata.name ?? '';
  const write = afterShown(before.pages.get(name), change.after);
  const pages = setPage(before.pages, name, write);
  const beforeRestore = rememberAfterChange(before.beforeRestore, change);
  const isSame = pages === before.pages && beforeRestore === before.beforeRestore;
  const state = isSame ? before : { ...before, pages, beforeRestore };
  if (isOwnWrite(write, change.after)) return { state, actions: [] };
  // The hub deletes the pages of a deleted placement. That is no rival.
  const isRival = isLeader && isPlacementThere;
  return noteChange(state, { change: changeKey(name, change), rivalAtMs: isRival ? nowMs : undefined });
}

/**
 * The pages were listed again. A page that this process created and that the list does not have was
 * deleted by others while the watch was interrupted, so the watch never shows it.
 */
function onPagesListed(
  before: PlacementState,
  event: Extract<PlacementEvent, { kind: 'pages-listed' }>,
  nowMs: number,
): StepResult {
  const { hubVersion, isLeader, isPlacementThere } = event;
  const lost = [...before.pages].filter(
    ([, write]) =>
      write.after !== undefined && isWatchBehind(write) && hasReachedVersion(hubVersion, write.version),
  );
  if (lost.length === 0) return { state: before, actions: [] };
  const pages = new Map(before.pages);
  for (const [name] of lost) pages.delete(name);
  const rivalAtMs = isLeader && isPlacementThere ? nowMs : undefined;
  const change = lost
    .map(([name, write]) => changeKey(name, { before: write.after, after: undefined }))
    .join();
  return noteChange({ ...before, pages }, { change, rivalAtMs });
}

/** The watch showed a change of the placement itself. */
function onPlacementChanged(
  before: PlacementState,
  { change, isInput }: Extract<PlacementEvent, { kind: 'placement-changed' }>,
): StepResult {
  const status = afterShown(before.status, change.after);
  const shown = status === before.status ? before : { ...before, status };
  const state = change.after === undefined ? { ...shown, rivalRoundsAtMs: [] } : shown;
  if (isOwnWrite(status, change.after)) return { state, actions: [] };
  if (isInput()) return { state, actions: [{ kind: 'decide-again', cause: 'inputs' }] };
  return noteChange(state, { change: changeKey('', change), rivalAtMs: undefined });
}

/**
 * Handles a change that may come from others. A pass in progress cannot tell yet whether the change
 * is its own, so the pass keeps it until its writes have responses.
 */
function noteChange(state: PlacementState, change: UnattributedChange): StepResult {
  const { pass } = state;
  if (pass === undefined || pass.early.length >= MAX_EARLY)
    return { state: noteRivalWrite(state, change), actions: [{ kind: 'decide-again', cause: 'decisions' }] };
  return { state: { ...state, pass: { ...pass, early: [...pass.early, change] } }, actions: [] };
}

type Failed = Extract<PlacementEvent, { kind: 'failed' }>;

/**
 * An action of the pass failed. The pass ends, and the next pass reads the uncertain state from the
 * hub.
 */
function onPassFailed(state: PassingState, failed: Failed, nowMs: number): StepResult {
  const { error } = failed;
  const { stage } = state.pass;
  if (stage.kind === 'writing') return writeFailed(state, stage.writing, failed, nowMs);
  if (stage.kind !== 'finishing') return endPass(state, { kind: 'failed', error });
  const { finishing } = stage;
  const failure = finishing.failure ?? { error };
  return endPassIfComplete(
    state,
    failed.of === 'status'
      ? { ...finishing, failure, isPatching: false }
      : { ...finishing, failure, record: { kind: 'none' } },
  );
}

/** A page write failed. Berth does not know whether the hub executed it. */
function writeFailed(
  state: PassingState,
  writing: WritingStage,
  { error, mayArrive }: Failed,
  nowMs: number,
): StepResult {
  const { pass, suspects } = state;
  const page = writing.actions[writing.at]?.page ?? '';
  const isNew = mayArrive && !suspects.includes(page);
  const unsure = { ...state, isUncertain: true, suspects: isNew ? [...suspects, page] : suspects };
  const end = { kind: 'failed', error } as const;
  const { passPages, purpose } = writing;
  const { uid } = pass.placement.metadata;
  if (purpose.kind !== 'publish') {
    const isFound = passPages.last === undefined && passPages.pages.every(hasGroup);
    // What the pages listed counts as published, although a cluster is still on two of them.
    const found = { uid, pages: purpose.pages, leaving: undefined };
    return endPass(isFound ? { ...unsure, last: found } : unsure, end);
  }
  const making = { pass, passPages, purpose, remembered: state.remembered, nowMs };
  const remembered = stateUnderWay(making);
  const last = { uid, pages: passPages.published, leaving: leavingClusters(making) };
  return endPass({ ...unsure, remembered, last }, end, [{ kind: 'remember', state: remembered }]);
}
