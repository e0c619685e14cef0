import { parseGoDuration } from '@berth/kube/model/go-duration';
import { clusterChange, sameClusters } from '@berth/placement/result/cluster-change';
import { addSpentCode } from '../../approval/approval-code.ts';
import { RELEASED_ANNOTATION, RELEASED_BY_ANNOTATION } from '../../approval/publish-annotations.ts';
import { continueChange, earlierRemovals, isUnfinished } from '../../judge/change-under-way.ts';
import { specHash } from '../../judge/decide-publication.ts';
import type { ChangeUnderWay, PublishState } from '../../judge/publish-state.ts';
import { recentRemovals } from '../../judge/removal-budget.ts';
import { type DesiredGroup, listedClusters, publishedClusters } from '../../pages/decision-page.ts';
import type { FinalPage, PagePlan } from '../../pages/plan-pages.ts';
import type { PublishedDecision } from '../../pages/published-placements.ts';
import { groupsOfPages, pagesDigest } from '../../record/last-publication.ts';
import { newestPageVersion, noteRivalWrite } from '../state/own-writes.ts';
import type { PassEnd, PlacementAction } from '../state/placement-event.ts';
import type {
  CompletedPublication,
  Pass,
  PassPages,
  PassPurpose,
  PassStage,
  PlacementState,
} from '../state/placement-state.ts';

/** A publication that is being written, or is complete. */
export interface PublicationInProgress {
  readonly pass: Pass;
  readonly passPages: Pick<PassPages, 'objects' | 'published'>;
  readonly purpose: Extract<PassPurpose, { kind: 'publish' }>;
  readonly remembered: PublishState | undefined;
  readonly nowMs: number;
}

/**
 * The state to store before the first cluster is removed, and when a write fails. With it the
 * removals count even if the process is killed.
 */
export function stateUnderWay(publication: PublicationInProgress): PublishState {
  const { pass, purpose, remembered: state, nowMs: atMs } = publication;
  const hash = specHash(pass.facts.digest, pass.result.placement);
  const published = publishedClusters(publication.passPages.published);
  const from = { state, published, atMs, released: releaseOf(publication) };
  const change = continueChange(listedClusters(purpose.plan.pages), from);
  return {
    publishedAtMs: atMs,
    move: undefined,
    ...state,
    uid: pass.result.placement.metadata.uid,
    specHash: hash,
    // A release resets the removals only when its change is complete. Until then, the removals of the
    // change that it continues count as earlier ones.
    removals: earlierRemovals(state, {
      ...from,
      released: undefined,
      specHash: hash,
      isRestGivenUp: from.released !== undefined,
    }),
    // The pages may list clusters that only an interrupted change added. They count if they leave. What
    // it removed counts until the pages list it again.
    change: {
      ...change,
      removed: [
        ...new Set([
          ...change.removed,
          ...leavingClusters(publication),
          ...missingClusters(state?.change, published),
        ]),
      ],
    },
  };
}

/** The clusters that the interrupted change removed so far. */
function missingClusters(
  change: ChangeUnderWay | undefined,
  published: readonly string[],
): readonly string[] {
  if (change === undefined || !isUnfinished(change, published)) return [];
  return clusterChange(change.removed, published).removed;
}

/** The clusters that the writes remove. */
export function leavingClusters({
  passPages,
  purpose,
}: Pick<PublicationInProgress, 'passPages' | 'purpose'>): readonly string[] {
  return clusterChange(publishedClusters(passPages.published), listedClusters(purpose.plan.pages)).removed;
}

/** What to store after all writes. */
export type PublicationSettlement =
  /** The stored state stays unchanged. */
  | { readonly kind: 'same' }
  | { readonly kind: 'remember'; readonly next: PublishState }
  /** Remember the state together with the hash of its record. */
  | { readonly kind: 'record'; readonly done: CompletedPublication };

/** Computes the state for judging the next change, and whether the publication gets a record. */
export function computeSettlement(publication: PublicationInProgress): PublicationSettlement {
  const { pass, purpose, remembered: state, nowMs } = publication;
  const { wanted, plan } = purpose;
  const { result, facts } = pass;
  const published = publishedClusters(publication.passPages.published);
  const clusters = listedClusters(plan.pages);
  const groups = groupsOfPages(plan.pages);
  // A change without a write counts too, because others may have removed the clusters.
  const isNew = plan.actions.length > 0 || !sameClusters(published, clusters);
  const done = isNew ? undefined : unrecordedChange(publication, groups);
  const changed = isNew || done !== undefined;
  const isWhole = state !== undefined && state.change === undefined;
  if (!changed && isWhole && state.recalled !== true && state.move?.token === wanted.handover?.token)
    return { kind: 'same' };
  // A new spec that moves no cluster gets no record, so it is not the spec of the last publication.
  const hash = !changed && isWhole ? state.specHash : specHash(facts.digest, result.placement);
  const released = done?.released ?? releaseOf(publication);
  const from = { state, published, atMs: nowMs, released };
  const isPartOfMore = isNew && state?.change !== undefined;
  const { added, removed } = done ?? (isPartOfMore ? continueChange(clusters, from) : wanted);
  const given = { ...from, specHash: hash, isRestGivenUp: done !== undefined };
  // Only a change that is complete drops the old ones: the clock may be wrong, and set back before that.
  const earlier = recentRemovals(earlierRemovals(state, given), nowMs);
  // Removals of an earlier change keep their own time.
  const counts = isNew && removed.length > 0 && released === undefined;
  const next: PublishState = {
    uid: result.placement.metadata.uid,
    specHash: hash,
    publishedAtMs: changed ? nowMs : (state?.publishedAtMs ?? nowMs),
    released: changed ? released : state?.released,
    removals: counts ? [...earlier, { atMs: nowMs, count: removed.length }] : earlier,
    move: wanted.handover,
    pages: changed ? pagesDigest(facts.digest, groups) : state?.pages,
    spent: changed ? addSpentCode(state?.spent, released?.token) : state?.spent,
    record: state?.record,
    pagesVersion: changed ? newestPageVersion(publication.passPages.objects) : state?.pagesVersion,
    restores: changed ? facts.restoredTo.length : state?.restores,
  };
  if (!changed) return { kind: 'remember', next };
  const entry = { placement: facts.key, result, groups, added, removed, released };
  return { kind: 'record', done: { entry, writes: plan.actions.length, clusters, next } };
}

/**
 * A change whose last write succeeded without a response, or whose rest is no longer wanted. No write
 * is left, but the record of the change is missing.
 * @param groups the groups on the pages
 */
function unrecordedChange(
  { pass, remembered: state }: PublicationInProgress,
  groups: readonly DesiredGroup[],
): ChangeUnderWay | undefined {
  if (state?.change === undefined || state.pages === pagesDigest(pass.facts.digest, groups)) return undefined;
  const { added, removed } = state.change;
  const listed = new Set(listedClusters(groups));
  return {
    ...state.change,
    added: added.filter((cluster) => listed.has(cluster)),
    removed: removed.filter((cluster) => !listed.has(cluster)),
  };
}

/** A change that the pages show completely and that has no record yet. */
export function finishedChange(
  { remembered: state, pass }: Pick<PassingState, 'remembered' | 'pass'>,
  published: readonly FinalPage[],
): ChangeUnderWay | undefined {
  if (state?.change === undefined || isUnfinished(state.change, publishedClusters(published)))
    return undefined;
  return state.pages === pagesDigest(pass.facts.digest, groupsOfPages(published)) ? undefined : state.change;
}

/**
 * Milliseconds that a write which changes only scores has to wait (`scoreRateLimit`, default 1
 * minute).
 */
export function scoreWaitMs(state: PlacementState, pass: Pass, plan: PagePlan, nowMs: number): number {
  if (!plan.scoresOnly || plan.actions.length === 0) return 0;
  const limitMs = parseGoDuration(pass.placement.spec?.scoreRateLimit ?? '1m') ?? 60_000;
  const last = state.scoresWrittenAtMs ?? state.remembered?.publishedAtMs;
  return last === undefined ? 0 : Math.min(limitMs, last + limitMs - nowMs);
}

function releaseOf({
  pass,
  purpose,
}: Pick<PublicationInProgress, 'pass' | 'purpose'>): PublishedDecision['released'] {
  const { releasedCode: code } = purpose.wanted;
  if (code === undefined) return undefined;
  const annotations = pass.placement.metadata.annotations ?? {};
  const byHand = annotations[RELEASED_ANNOTATION] === code;
  return { token: code, by: byHand ? annotations[RELEASED_BY_ANNOTATION] : undefined };
}

export const DONE: PassEnd = { kind: 'done' };

/**
 * Ends the pass. All writes have responses now, so the watch events that arrived during the pass
 * can be attributed and are handled.
 */
export function endPass(
  { pass, ...rest }: PassingState,
  end: PassEnd,
  actions: readonly PlacementAction[] = [],
): StepResult {
  const state: PlacementState = { ...rest, pass: undefined };
  const last: PlacementAction = { kind: 'end', end };
  if (pass.early.length === 0) return { state, actions: [...actions, last] };
  const made = new Set(pass.made);
  const foreign = pass.early.filter(({ change }) => !made.has(change));
  return {
    state: foreign.reduce(noteRivalWrite, state),
    actions: [
      ...actions,
      ...foreign.slice(0, 1).map((): PlacementAction => ({ kind: 'decide-again', cause: 'decisions' })),
      last,
    ],
  };
}

/** The state after an event, and the actions to apply. */
export interface StepResult {
  readonly state: PlacementState;
  readonly actions: readonly PlacementAction[];
}

/** A state in which a pass is under way. */
export type PassingState = PlacementState & { readonly pass: Pass };

export function withStage(state: PassingState, stage: PassStage): PassingState {
  return { ...state, pass: { ...state.pass, stage } };
}

/** The step with these actions before its own. */
export function prependActions(
  actions: readonly PlacementAction[],
  { state, actions: next }: StepResult,
): StepResult {
  return actions.length === 0 ? { state, actions: next } : { state, actions: [...actions, ...next] };
}

/** A time in RFC 3339 with whole seconds, as in conditions. */
export function statusTime(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');
}
