import { createHash } from 'node:crypto';
import { jsonEqual } from '../../core/model/json-equal.ts';
import { namespacedName } from '../../core/model/object-ref.ts';
import type { Placement } from '../../core/model/placement.ts';
import { formatRfc3339, instantFromEpochMs } from '../../core/model/rfc3339.ts';
import { PLACEMENT_LABEL } from '../../core/model/placement-decision.ts';
import type { ScheduleResult } from '../../core/placement/schedule-result.ts';
import { scheduleAll } from '../../core/placement/schedule-all.ts';
import { makePlan } from '../../core/preview/make-plan.ts';
import { overlayWorld } from '../../core/preview/overlay-world.ts';
import type { SourceObject } from '../../core/model/source-object.ts';
import type { Plan, PlanEnd } from '../../core/preview/plan.ts';
import type { PlanJudges, PlanSide } from '../../core/preview/plan-input.ts';
import type { CompactRecord } from '../../core/publish/compact-record.ts';
import { approvedPlans } from '../../core/publish/approved-plans.ts';
import {
  type Change,
  compareWithPlan,
  differsFromPlan,
  specHash,
} from '../../core/publish/decide-publication.ts';
import { type Hold, judgeResult } from '../../core/publish/judge-result.ts';
import { planToken, unspentToken } from '../../core/publish/plan-token.ts';
import { RELEASED_ANNOTATION, REMOVAL_BUDGET_ANNOTATION } from '../../core/publish/publish-annotations.ts';
import type { PublishState } from '../../core/publish/publish-state.ts';
import { recallState } from '../../core/publish/recall-state.ts';
import { removedRecently } from '../../core/publish/removal-window.ts';
import { releaseTokens } from '../../core/publish/release-tokens.ts';
import {
  DEFAULT_REMOVAL_BUDGET,
  parseRemovalBudget,
  type RemovalBudget,
} from '../../core/publish/removal-budget.ts';
import type { World } from '../../core/snapshot/world.ts';
import { publishedResults } from '../../core/transition/published-results.ts';
import { completeTransition, type TransitionOptions } from '../../core/transition/transition.ts';
import { worldOf } from '../../core/sources/world-of.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { moveExplainer } from './explain-moves.ts';

interface PlannedFleet extends Pick<Fleet, 'commit'> {
  readonly objects: readonly SourceObject[];
}

export interface FleetPlanInput {
  readonly base: { readonly fleet: PlannedFleet; readonly end: PlanEnd };
  readonly head: { readonly fleet: PlannedFleet; readonly end: PlanEnd };
  /** RFC 3339; absent: when the later of the two commits was made, so that a plan can be repeated. */
  readonly now?: string | undefined;
  /** What a hub holds: clusters, scores and published decisions are its, and Git's objects are laid over it. */
  readonly hub?: World | undefined;
  /**
   * What was published of a placement (`namespace/name`) before, oldest first: its releases do not count again, and what was removed a
   * moment ago counts toward its budget. Absent: nothing is known.
   */
  readonly recordsOf?: ((placement: string) => readonly CompactRecord[]) | undefined;
  /** How much a change may remove from a placement that does not say so itself. Absent: the default. */
  readonly budgetOf?: ((placement: Placement) => RemovalBudget | undefined) | undefined;
}

/** The plan between two fleets, with the same engine, holds and explanations as after the merge. */
export function planFleets({ base, head, now, hub, recordsOf, budgetOf }: FleetPlanInput): Plan {
  const present = now ?? presentOf([base.fleet, head.fleet]);
  const baseWorld = worldOf(base.fleet.objects, { now: present });
  const headWorld = worldOf(head.fleet.objects, { now: present });
  const decisions = hub?.decisions ?? decisionsOfBefore(baseWorld);
  const published = publishedIn(decisions);
  const nowMs = Date.parse(present);
  const live = byKey(hub?.placements ?? []);
  const [baseSpecs, headSpecs] = [byKey(baseWorld.placements), byKey(headWorld.placements)];
  // The hub adds defaults to what Git says.
  const specHashOf = (key: string, placement: Placement): string =>
    jsonEqual(baseSpecs.get(key)?.spec, headSpecs.get(key)?.spec)
      ? specHash(sha256, live.get(key) ?? placement)
      : specHash(sha256, placement);
  const stateOf = (key: string, hash: string): PublishState | undefined =>
    recallState(recordsOf?.(key) ?? [], {
      specHash: hash,
      nowMs,
      createdAt: live.get(key)?.metadata.creationTimestamp ?? present,
    });
  const tokenOf: PlanJudges['token'] = (key, old, next) =>
    unspentToken(sha256, planToken(sha256, key, published.get(key) ?? old, next), stateOf(key, '')?.spent);
  const approvals = freshApprovals(base.fleet.objects, head.fleet.objects);
  const differs = (
    key: string,
    old: readonly string[],
    result: ScheduleResult,
    change: Change,
  ): Hold | undefined => {
    const tokens = approvals.get(key);
    const approved = tokens && { tokens, commit: head.end.commit };
    const before = published.get(key) ?? old;
    const token = tokenOf(key, old, result.selected);
    const own = [planToken(sha256, key, before, result.selected), token];
    const isOther = compareWithPlan(approved, change, () => own) === 'differs' && change.removed.length > 0;
    const pages = [
      { name: '', group: undefined, decisions: before.map((clusterName) => ({ clusterName, reason: '' })) },
    ];
    return isOther
      ? differsFromPlan({ approved, pages, placement: result.placement }, change, token)
      : undefined;
  };
  const judge: PlanJudges['judge'] = (key, old, result, definitionChanged) => {
    const annotations = result.placement.metadata.annotations ?? {};
    const hash = specHashOf(key, result.placement);
    const state = stateOf(key, hash);
    const specChanged = state === undefined ? definitionChanged : state.specHash !== hash;
    const verdict = judgeResult({
      result,
      published: published.get(key) ?? old,
      specChanged,
      budget:
        parseRemovalBudget(annotations[REMOVAL_BUDGET_ANNOTATION] ?? '') ??
        budgetOf?.(result.placement) ??
        DEFAULT_REMOVAL_BUDGET,
      recentlyRemoved: specChanged ? 0 : removedRecently(state?.removals ?? [], nowMs),
      inventoryProblem: undefined,
      token: () => tokenOf(key, old, result.selected),
      releasedTokens: [...releaseTokens(result.placement.metadata), annotations[RELEASED_ANNOTATION]],
    });
    const hold = verdict.kind === 'held' ? verdict : differs(key, old, result, verdict);
    return hold && { reason: hold.reason, message: hold.message };
  };
  const outcomeOf: TransitionOptions['outcomeOf'] = (key, result) => {
    const before = published.get(key);
    return before !== undefined && judge(key, before, result, false) !== undefined ? before : result.selected;
  };
  const laidOver = {
    ...(hub === undefined ? baseWorld : overlayWorld(hub, baseWorld, undefined)),
    now: present,
    decisions,
  };
  const merged = hub === undefined ? headWorld : overlayWorld(laidOver, headWorld, baseWorld);
  const before: PlanSide = {
    end: base.end,
    objects: base.fleet.objects,
    world: laidOver,
    results: publishedResults(scheduleAll(laidOver), decisions),
  };
  const after = completeTransition(
    { decide: scheduleAll, outcomeOf },
    { ...merged, now: present, decisions },
  );
  const side: PlanSide = {
    end: head.end,
    objects: head.fleet.objects,
    world: after.world,
    results: [...after.results.values()],
  };
  const plan = makePlan(before, side, { explain: moveExplainer(before, side), token: tokenOf, judge });
  if (hub !== undefined || baseWorld.decisions.length > 0 || baseWorld.placements.length === 0) return plan;
  return { ...plan, notEvaluated: [...plan.notEvaluated, NOTHING_RECORDED] };
}

const NOTHING_RECORDED =
  'No PlacementDecisions are recorded: what the base decides by itself counts as what is published now.';

/** Per placement (`namespace/name`), what its decisions list: the token of a change starts from there, after the merge as well. */
function publishedIn(decisions: World['decisions']): ReadonlyMap<string, readonly string[]> {
  const published = new Map<string, string[]>();
  for (const { metadata, status } of decisions) {
    const key = `${metadata.namespace ?? ''}/${metadata.labels?.[PLACEMENT_LABEL] ?? ''}`;
    const clusters = published.get(key) ?? [];
    published.set(key, clusters);
    clusters.push(...(status?.decisions ?? []).map(({ clusterName }) => clusterName));
  }
  return published;
}

/** What is published before the change: as recorded, else what the base decides for itself. */
export function decisionsOfBefore(world: World): World['decisions'] {
  if (world.decisions.length > 0) return world.decisions;
  const outcomeOf: TransitionOptions['outcomeOf'] = (_key, { selected }) => selected;
  return completeTransition({ decide: scheduleAll, outcomeOf }, world).world.decisions;
}

/** The plans that the head brings and the base does not: they count for the change that the merge makes. */
function freshApprovals(
  base: readonly SourceObject[],
  head: readonly SourceObject[],
): ReadonlyMap<string, readonly string[]> {
  const [before, after] = [base, head].map((objects) =>
    approvedPlans(objects.map(({ object }) => object)),
  ) as [ReadonlyMap<string, readonly string[]>, ReadonlyMap<string, readonly string[]>];
  return new Map([...after].filter(([key, tokens]) => tokens.join() !== (before.get(key) ?? []).join()));
}

function byKey(placements: readonly Placement[]): ReadonlyMap<string, Placement> {
  return new Map(placements.map((placement) => [namespacedName(placement.metadata), placement]));
}

function presentOf(fleets: readonly PlannedFleet[]): string {
  const times = fleets.map(({ commit }) => commit?.committer.timeMs ?? 0);
  return formatRfc3339(instantFromEpochMs(Math.max(...times)));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
