import type { KubeObject } from '@berth/kube/model/object-meta';
import { activeHold } from '../../approval/approval-code.ts';
import { isPlanWaiting } from '../../approval/pending-plans.ts';
import { endChange, endFinishedChange } from '../../judge/change-under-way.ts';
import type { Publication } from '../../judge/decide-publication.ts';
import type { ChangeUnderWay, PublishState } from '../../judge/publish-state.ts';
import {
  type DecisionPage,
  type DesiredGroup,
  decisionPageOf,
  hasGroup,
  placementOfPage,
  publishedClusters,
} from '../../pages/decision-page.ts';
import { type PagePlan, planPages } from '../../pages/plan-pages.ts';
import type { PublishedDecision } from '../../pages/published-placements.ts';
import {
  groupsOfPages,
  type LastPublication,
  listClustersOnce,
  pagesDigest,
  planToRestore,
  publishedPages,
  wereChangedByOthers,
} from '../../record/last-publication.ts';
import { recordedPublication, unrecordedPublication } from '../../record/recorded-publication.ts';
import {
  extendDisturbance,
  isDisturbed,
  latestVersion,
  newestPageVersion,
  pagesSinceRecord,
} from '../state/own-writes.ts';
import type { PlacementAction } from '../state/placement-event.ts';
import type { PassFacts, PassPages, PassPurpose, WritingStage } from '../state/placement-state.ts';
import { decideFromFacts } from './decide-from-facts.ts';
import {
  endPass,
  finishedChange,
  type PassingState,
  prependActions,
  scoreWaitMs,
  stateUnderWay,
  type StepResult,
  withStage,
} from './publication-in-progress.ts';
import { writePages } from './finish-pass.ts';

/** Time until the next pass while a commit is partly applied. A complete commit starts it sooner. */
const PARTIAL_COMMIT_RETRY_MS = 2_000;
/** Time until the next pass while a new decision is requested, if that decision fails. */
const DECISION_RETRY_MS = 1_000;
/** Time until the next pass while a commit may still make its approved change. */
const PLAN_RETRY_MS = 500;

/**
 * The pages are known. Records publications that a killed process did not record, judges the
 * result, and starts to write.
 */
export function judgePages(before: PassingState, objects: readonly KubeObject[], nowMs: number): StepResult {
  const { facts, placement, result } = before.pass;
  const pages = objects.map((object) => decisionPageOf(object, placement.metadata.uid));
  const last = lastPublication(before, objects, pages);
  const isChanged = wereChangedByOthers(pages, last);
  const passPages = { objects, pages, last, published: publishedPages(pages, last), isChanged };
  const disturbance = isChanged ? extendDisturbance(before.disturbance, nowMs) : before.disturbance;
  const known =
    last === undefined
      ? { last: before.last }
      : { last: { uid: placement.metadata.uid, ...last }, beforeRestore: undefined };
  const state = { ...before, ...known, disturbance };
  if (mustRead(state, passPages, nowMs))
    return { state: withStage(state, { kind: 'reading' }), actions: [{ kind: 'read-pages', placement }] };
  if (state.isCompared || facts.inventoryProblem !== undefined) return judgeResultOn(state, passPages, nowMs);
  const ended = afterRecordedChange(state, passPages);
  const compared = { ...state, isCompared: true, remembered: ended ?? state.remembered };
  const { newest, oldestAtMs, areReadable } = facts.records;
  const past = { newest, oldestAtMs, state: compared.remembered, digest: facts.digest };
  const found = areReadable ? unrecordedPublication(passPages.published, past) : undefined;
  const dropped: readonly PlacementAction[] = newest === undefined ? [] : [{ kind: 'drop-record' }];
  if (found === undefined) {
    if (ended === undefined || newest === undefined)
      return prependActions(dropped, judgeResultOn(compared, passPages, nowMs));
    const remembered = recordedState(ended, passPages, facts, newest.hash);
    const noted: PlacementAction = { kind: 'remember', state: remembered };
    return prependActions([...dropped, noted], judgeResultOn({ ...compared, remembered }, passPages, nowMs));
  }
  const { made, ...published } = found;
  const { released, atMs, counts = false } = made ?? {};
  const entry = { placement: facts.key, result, ...published, released, found: { atMs, counts } };
  return prependActions(dropped, recordFound(compared, passPages, entry));
}

/**
 * The state after a change that the previous process completed and recorded, if that process was
 * killed before it stored this state. A second record would count the removals twice.
 */
function afterRecordedChange(
  { remembered, pass: { facts } }: PassingState,
  { published }: PassPages,
): PublishState | undefined {
  const { newest } = facts.records;
  if (remembered?.change === undefined || newest === undefined) return undefined;
  // The record that the state names was made before the change. Clocks alone may be set back.
  if (newest.hash === remembered.record) return undefined;
  if (Date.parse(newest.publishedAt) < remembered.change.atMs) return undefined;
  // A record of what was found may show a part of the change. It counts or has a release if it shows
  // the whole change.
  const isPart = newest.afterRestart === true && newest.counts !== true && newest.released === null;
  const end = isPart ? endFinishedChange : endChange;
  return end(remembered, publishedClusters(published));
}

/**
 * Whether the pages must be read from the hub: the last publication is unknown, and this pass would
 * not change the pages.
 */
function mustRead(state: PassingState, passPages: PassPages, nowMs: number): boolean {
  const { facts, placement, result, isRead } = state.pass;
  const { published } = passPages;
  if (isRead || passPages.last !== undefined || passPages.pages.length === 0) return false;
  const wanted = decideFromFacts(facts, { placement, result, published, state }, nowMs);
  if (wanted.groups === undefined || waitBeforeJudging(state, passPages, wanted, nowMs).waitMs > 0)
    return true;
  return scoreWaitMs(state, state.pass, planOf(state, passPages, wanted.groups), nowMs) > 0;
}

/** The publication that was found without a record has its record now. */
export function onFoundRecorded(
  before: PassingState,
  { passPages }: Extract<PassingState['pass']['stage'], { kind: 'recording-found' }>,
  record: string,
  nowMs: number,
): StepResult {
  const ended =
    before.remembered && endFinishedChange(before.remembered, publishedClusters(passPages.published));
  const remembered = ended && recordedState(ended, passPages, before.pass.facts, record);
  const actions: readonly PlacementAction[] = [
    ...(remembered === undefined ? [] : [{ kind: 'remember', state: remembered } as const]),
    { kind: 'report-found', record },
  ];
  return prependActions(actions, judgeResultOn({ ...before, remembered }, passPages, nowMs));
}

/**
 * The state, with this record, which matches what is published. While the pages do not show that, a
 * page of a backup stays older than the record.
 */
function recordedState(
  state: PublishState,
  { objects, published, isChanged }: PassPages,
  { digest, restoredTo }: PassFacts,
  record: string,
): PublishState {
  const recorded = { ...state, pages: pagesDigest(digest, groupsOfPages(published)), record };
  if (isChanged) return recorded;
  return { ...recorded, pagesVersion: newestPageVersion(objects), restores: restoredTo.length };
}

function judgeResultOn(state: PassingState, passPages: PassPages, nowMs: number): StepResult {
  const { facts, placement, result } = state.pass;
  const { published, isChanged } = passPages;
  const wanted = decideFromFacts(facts, { placement, result, published, state }, nowMs);
  const wait = waitBeforeJudging(state, passPages, wanted, nowMs);
  if (wait.waitMs > 0) {
    if (isChanged)
      return prependActions(
        wait.actions,
        stay(wait.state, passPages, { kind: 'wait', afterMs: wait.waitMs }, nowMs),
      );
    const report: PlacementAction = { kind: 'final-pages', pages: published };
    return endPass(wait.state, { kind: 'requeue', afterMs: wait.waitMs }, [...wait.actions, report]);
  }
  const finished = finishedChange(state, published);
  if (wanted.groups === undefined) {
    const isRecordDue = finished !== undefined && passPages.pages.every(hasGroup);
    if (isRecordDue) return recordFinished(wait.state, passPages, finished);
    return stay(wait.state, passPages, { kind: 'stay', wanted }, nowMs);
  }
  const plan = planOf(state, passPages, wanted.groups);
  const waitMs = scoreWaitMs(wait.state, state.pass, plan, nowMs);
  if (waitMs > 0) return endPass(wait.state, { kind: 'requeue', afterMs: waitMs });
  // Without a write the result is that of the finished change, and its record is made with it.
  if (finished !== undefined && plan.actions.length > 0)
    return recordFinished(wait.state, passPages, finished);
  return publish(wait.state, passPages, { kind: 'publish', wanted, plan }, nowMs);
}

function planOf(state: PassingState, passPages: PassPages, groups: readonly DesiredGroup[]): PagePlan {
  return planPages(state.pass.placement.metadata.name, passPages.pages, groups, {
    isTaken: (page) => isTaken(state, passPages, page),
    before: passPages.isChanged ? passPages.published : undefined,
  });
}

/**
 * Records a change whose last response was lost, before the next change begins. The record of the
 * next change does not say what this one removed, or which release it used.
 */
function recordFinished(
  state: PassingState,
  passPages: PassPages,
  { added, removed, released, atMs }: ChangeUnderWay,
): StepResult {
  const { facts, result } = state.pass;
  const groups = groupsOfPages(passPages.published);
  const found = { atMs, counts: released === undefined };
  const entry = { placement: facts.key, result, groups, added, removed, released, found };
  return recordFound(state, passPages, entry);
}

/** Records what the pages list. From then on it counts as the last publication. */
function recordFound(state: PassingState, passPages: PassPages, entry: PublishedDecision): StepResult {
  const { pages, published } = passPages;
  const actions: readonly PlacementAction[] = [{ kind: 'record', entry }];
  // A page without group labels has an unknown group, so the pages cannot count as published.
  if (!pages.every(hasGroup))
    return { state: withStage(state, { kind: 'recording-found', passPages, entry }), actions };
  const last = { pages: published, leaving: undefined };
  const known = { ...passPages, last, isChanged: wereChangedByOthers(pages, last) };
  const next = { ...state, last: { uid: state.pass.placement.metadata.uid, ...last } };
  return { state: withStage(next, { kind: 'recording-found', passPages: known, entry }), actions };
}

function publish(
  state: PassingState,
  passPages: PassPages,
  purpose: Extract<PassPurpose, { kind: 'publish' }>,
  nowMs: number,
): StepResult {
  const { actions } = purpose.plan;
  const writing = writingOf(passPages, purpose, actions);
  if (actions.length === 0 || purpose.wanted.removed.length === 0) return writePages(state, writing, nowMs);
  // Berth stores removals on disk before it makes them.
  const remembered = stateUnderWay({
    pass: state.pass,
    passPages,
    purpose,
    remembered: state.remembered,
    nowMs,
  });
  return {
    state: withStage({ ...state, remembered }, { kind: 'persisting', writing }),
    actions: [{ kind: 'persist', state: remembered }],
  };
}

/** Publishes no new result. The published pages stay, or are restored if others changed them. */
function stay(
  state: PassingState,
  passPages: PassPages,
  why:
    | Omit<Extract<PassPurpose, { kind: 'wait' }>, 'pages'>
    | Omit<Extract<PassPurpose, { kind: 'stay' }>, 'pages'>,
  nowMs: number,
): StepResult {
  const { name } = state.pass.placement.metadata;
  const plan = planToRestore(name, passPages.pages, passPages.last, (page) =>
    isTaken(state, passPages, page),
  );
  const reports: readonly PlacementAction[] =
    passPages.last !== undefined && plan.actions.length > 0
      ? [{ kind: 'report-restored', pages: [...new Set(plan.actions.map(({ page }) => page))] }]
      : [];
  const writing = writingOf(passPages, { ...why, pages: plan.pages }, plan.actions);
  return prependActions(reports, writePages(state, writing, nowMs));
}

function writingOf(
  passPages: PassPages,
  purpose: PassPurpose,
  actions: WritingStage['actions'],
): WritingStage {
  const objects = new Map(passPages.objects.map((page) => [page.metadata.name, page]));
  return { passPages, purpose, actions, at: 0, objects };
}

/** Whether a page of others has this name. Of its own pages, those that were read from the hub count. */
function isTaken(state: PassingState, { pages }: PassPages, name: string): boolean {
  const { facts, isRead } = state.pass;
  const object = latestVersion(state.pages.get(name), facts.seenPage(name));
  if (object === undefined || pages.some((own) => own.name === name)) return false;
  return !(isRead && placementOfPage(object) === facts.key);
}

/** The last publication of the placement; undefined if it is unknown. */
function lastPublication(
  state: PassingState,
  objects: readonly KubeObject[],
  pages: readonly DecisionPage[],
): LastPublication | undefined {
  const { last, beforeRestore, remembered } = state;
  const { facts, placement } = state.pass;
  const { uid } = placement.metadata;
  if (last?.uid === uid) return last;
  if (last !== undefined) return undefined;
  const pagesSince = pagesSinceRecord(objects, remembered, facts);
  const record = facts.records.newest;
  const seen = beforeRestore?.uid === uid ? beforeRestore?.pages : undefined;
  const from = { record, state: remembered, placement, pages, pagesSince, seen: seen ?? [] };
  const recorded = recordedPublication(from);
  if (recorded !== undefined) return recorded;
  if (seen !== undefined) return { pages: seen, leaving: undefined };
  // Another process may have written pages that the watch does not show yet.
  const isLate = remembered === undefined || remembered.recalled === true;
  return isLate && !state.pass.isRead ? undefined : asFound(pages);
}

/**
 * The pages that the first pass finds count as published, even if others change them before the
 * first result. Inconsistent pages do not count; the first result replaces them.
 */
function asFound(pages: readonly DecisionPage[]): LastPublication | undefined {
  const isClear = pages.length > 0 && pages.every(hasGroup);
  if (!isClear) return undefined;
  const once = listClustersOnce(pages);
  return once.actions.length === 0 ? { pages: once.pages, leaving: undefined } : undefined;
}

/** How long a result has to wait, and what to do meanwhile. */
interface Wait {
  readonly state: PassingState;
  readonly actions: readonly PlacementAction[];
  /** Milliseconds; 0 if it is not too early. */
  readonly waitMs: number;
}

/** How long the result has to wait before Berth may publish or hold it. */
function waitBeforeJudging(
  state: PassingState,
  { published }: PassPages,
  wanted: Publication,
  nowMs: number,
): Wait {
  const { facts, placement } = state.pass;
  const moves = movesClusters(wanted);
  const endsHold = wanted.hold === undefined && activeHold(placement) !== undefined;
  // This also applies if nothing is published yet: a set or a binding that the commit deletes
  // exists until the commit is complete. A hold that ends waits too: while it exists, the commit
  // deletes nothing that the placement would lose.
  if (moves || endsHold) {
    const consistency = facts.snapshotConsistency(endsHold || isConsented(wanted));
    const waitMs = PARTIAL_COMMIT_RETRY_MS;
    if (consistency === 'partial') return { state: { ...state, waitsForCommit: true }, actions: [], waitMs };
    if (consistency === 'outdated' || isOfEarlierSpec(state))
      return { state, actions: [{ kind: 'decide-again', cause: 'inputs' }], waitMs };
  }
  let next = state;
  if (moves && isDisturbed(state.disturbance, nowMs)) {
    if (!facts.wasDecidedKnowing(publishedClusters(published)))
      return { state, actions: [{ kind: 'decide-again', cause: 'decisions' }], waitMs: DECISION_RETRY_MS };
    next = { ...state, disturbance: undefined };
  }
  // While the commit is partly applied, the change may differ from the plan.
  const isWaiting = wanted.approval === 'differs' && isPlanWaiting(facts.plans, nowMs);
  return { state: next, actions: [], waitMs: isWaiting ? PLAN_RETRY_MS : 0 };
}

/**
 * Whether a release or an approved plan lets the change happen. It may have come with a commit after the result was
 * decided, and then it consents to what that commit leads to.
 */
function isConsented({ releasedCode, approval }: Publication): boolean {
  return releasedCode !== undefined || approval === 'met';
}

/**
 * Whether the result was decided from an earlier spec. A release for the new spec does not approve
 * such a result.
 */
function isOfEarlierSpec({ pass: { placement, result } }: PassingState): boolean {
  const { generation } = placement.metadata;
  return generation !== undefined && generation !== result.placement.metadata.generation;
}

function movesClusters(wanted: Publication): boolean {
  const { added, removed } = wanted.hold ?? wanted;
  return added.length + removed.length > 0;
}
