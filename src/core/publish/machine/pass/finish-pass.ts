import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import type { Placement, PlacementStatus } from '@berth/ocm/kind/placement';
import { HELD_CONDITION } from '@berth/placement/explain/verdict/names-on-placements';
import type { PlanOutcome } from '../../approval/pending-plans.ts';
import type { Publication } from '../../judge/decide-publication.ts';
import { addHoldReasons, heldCondition, type Hold } from '../../judge/judge-result.ts';
import { planPlacementStatus } from '../../pages/placement-status.ts';
import type { FinalPage } from '../../pages/plan-pages.ts';
import { afterShown, changeKey, currentPages, haveSameVersions, recordWrite } from '../state/own-writes.ts';
import type { PlacementAction, PlacementEvent } from '../state/placement-event.ts';
import type {
  FinishingStage,
  Pass,
  PassPages,
  PassPurpose,
  PlacementState,
  WritingStage,
} from '../state/placement-state.ts';
import {
  computeSettlement,
  DONE,
  endPass,
  type PassingState,
  prependActions,
  statusTime,
  type StepResult,
  withStage,
} from './publication-in-progress.ts';

/**
 * All pages are written. The pass sends one status patch and makes the record. It sends the status
 * first, so that the hub handles the patch while Berth makes the record.
 */
function finishPass(
  state: PassingState,
  {
    passPages,
    purpose,
  }: { readonly passPages: PassPages; readonly purpose: Exclude<PassPurpose, { kind: 'wait' }> },
  nowMs: number,
): StepResult {
  const { facts, placement } = state.pass;
  const { wanted } = purpose;
  const finalPages = purpose.kind === 'publish' ? purpose.plan.pages : purpose.pages;
  const hold = wanted.hold && addHoldReasons(wanted.hold, facts.lostClusters);
  const status = statusOf(state.pass, finalPages, hold, nowMs);
  const actions: PlacementAction[] = plansJudged(state.pass, wanted);
  if (status !== undefined) actions.push({ kind: 'patch-status', placement, status });
  if (purpose.kind === 'publish') actions.push({ kind: 'yield' });
  const finishing: FinishingStage = {
    finalPages: finalPages,
    hold,
    againAfterMs: wanted.againAfterMs,
    isPatching: status !== undefined,
    record: purpose.kind === 'publish' ? { kind: 'open', passPages, purpose } : { kind: 'none' },
  };
  return prependActions(actions, endPassIfComplete(state, finishing));
}

/** The hub responded to the status patch. */
export function onStatusWritten(
  state: PassingState,
  { after: object, seen }: Extract<PlacementEvent, { kind: 'status-written' }>,
): PassingState {
  const { pass } = state;
  const change = { before: pass.placement as unknown as KubeObject, after: object };
  return {
    ...state,
    status: afterShown(recordWrite(state.status, change), seen),
    pass: { ...pass, made: [...pass.made, changeKey('', change)] },
  };
}

/** The status patch was sent. Stores the state for the next judgement and makes the record. */
export function settlePublication(state: PassingState, finishing: FinishingStage, nowMs: number): StepResult {
  if (finishing.record.kind !== 'open') return { state, actions: [] };
  const { passPages, purpose } = finishing.record;
  const settlement = computeSettlement({
    pass: state.pass,
    passPages,
    purpose,
    remembered: state.remembered,
    nowMs,
  });
  switch (settlement.kind) {
    case 'same':
      return endPassIfComplete(state, { ...finishing, record: { kind: 'none' } });
    case 'remember': {
      const { next: remembered } = settlement;
      const step = endPassIfComplete({ ...state, remembered }, { ...finishing, record: { kind: 'none' } });
      return prependActions([{ kind: 'remember', state: remembered }], step);
    }
    case 'record': {
      const { done } = settlement;
      const scoresWrittenAtMs = purpose.plan.scoresOnly ? nowMs : state.scoresWrittenAtMs;
      const record = { kind: 'under-way', done } as const;
      const step = endPassIfComplete({ ...state, scoresWrittenAtMs }, { ...finishing, record });
      return prependActions([{ kind: 'record', entry: done.entry }], step);
    }
  }
}

/** The record is stored. Remembers its hash, and reports the publication. */
export function onPublicationRecorded(
  state: PassingState,
  finishing: FinishingStage,
  hash: string,
): StepResult {
  if (finishing.record.kind !== 'under-way') return { state, actions: [] };
  const { entry, clusters, writes, next } = finishing.record.done;
  const remembered = { ...next, record: hash };
  const actions: readonly PlacementAction[] = [
    { kind: 'remember', state: remembered },
    { kind: 'report-published', entry, clusters, writes, record: hash },
  ];
  const step = endPassIfComplete({ ...state, remembered }, { ...finishing, record: { kind: 'none' } });
  return prependActions(actions, step);
}

/** Ends the pass if no response is pending; otherwise the pass waits for the rest. */
export function endPassIfComplete(state: PassingState, finishing: FinishingStage): StepResult {
  const { isPatching, record, failure, hold, finalPages: finalPages, againAfterMs } = finishing;
  if (isPatching || record.kind !== 'none')
    return { state: withStage(state, { kind: 'finishing', finishing }), actions: [] };
  if (failure !== undefined) return endPass(state, { kind: 'failed', error: failure.error });
  const text = hold === undefined ? undefined : `${hold.reason} ${hold.code}`;
  const isNew = hold !== undefined && text !== state.reportedHold;
  const isKnown = hold !== undefined && isOnHub(state.pass.placement, hold);
  const reports: readonly PlacementAction[] = isNew ? [{ kind: 'report-held', hold, isKnown }] : [];
  return endPass(
    { ...state, reportedHold: text },
    againAfterMs === undefined ? DONE : { kind: 'requeue', afterMs: Math.max(1, againAfterMs) },
    [...reports, { kind: 'final-pages', pages: finalPages }],
  );
}

/** Whether the placement said before the pass that this is held: an earlier process reported it. */
function isOnHub({ status }: Placement, { reason, message }: Hold): boolean {
  const found = status?.conditions?.find(({ type }) => type === HELD_CONDITION);
  return found?.status === 'True' && found.reason === reason && found.message === message;
}

function statusOf(
  { facts, placement, result }: Pass,
  pages: readonly FinalPage[],
  hold: Hold | undefined,
  nowMs: number,
): PlacementStatus | undefined {
  const { status: current } = placement;
  const existing = current?.conditions?.find((condition) => condition.type === HELD_CONDITION);
  const held = heldCondition(hold, existing);
  // A result from incomplete inputs does not change the status.
  const decided: readonly Condition[] = facts.inventoryProblem === undefined ? result.conditions : [];
  const conditions = held === undefined ? decided : [...decided, held];
  return planPlacementStatus({ current, pages, conditions, now: statusTime(nowMs) });
}

function plansJudged({ facts: { plans } }: Pass, wanted: Publication): PlacementAction[] {
  const outcome = planOutcome(wanted);
  return outcome === undefined || plans.length === 0 ? [] : [{ kind: 'judge-plans', plans, outcome }];
}

/**
 * The outcome of the plans. A published change that differs from its plan only adds clusters. That
 * needs no approval, so it has the outcome `none`.
 */
function planOutcome({ hold, approval }: Publication): PlanOutcome | undefined {
  if (hold === undefined) return approval === 'met' ? 'met' : 'none';
  if (approval !== 'differs') return undefined;
  return hold.reason === 'DiffersFromPlan' ? 'differs' : 'held';
}

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
