import { PLACEMENT } from '@berth/kube/model/kinds';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { Placement } from '@berth/ocm/kind/placement';
import { SCHEDULER_ANNOTATION } from '@berth/placement/explain/verdict/names-on-placements';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { decisionOwner, PublishedClusters } from '@berth/placement/prior/published-clusters';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { sha256 } from '@berth/runtime/sha256';
import type { AddOnJudging, HubAddOns } from '../../core/preview/addons/plan-addons.ts';
import { type HubOnlyObjects, hubOnlyObjects } from '../../core/preview/hub-only-objects.ts';
import type { JudgedDeletions } from '../../core/preview/judged-deletions.ts';
import type { PlanSide } from '../../core/preview/plan-input.ts';
import { PlanJudge } from '../../core/preview/plan-judge.ts';
import type { Plan, PlanEnd } from '../../core/preview/plan.ts';
import { overlaySnapshot, snapshotWithout } from '../../core/preview/sides/overlay-snapshot.ts';
import { type HeldObjects, withHeld } from '../../core/preview/sides/held-objects.ts';
import type { SideDecider } from '../../core/preview/sides/side-decider.ts';
import { laterChanges, type LaterChanges, type LaterInput } from '../../core/preview/later/later-changes.ts';
import { compareFutures, waitingChanges } from '../../core/preview/sides/without-merge.ts';
import { applyWhatIf, type WhatIf } from '../../core/preview/what-if/apply-what-if.ts';
import { approvedPlans, type Approvals } from '../../core/publish/approval/approved-plans.ts';
import type { RemovalBudget } from '../../core/publish/judge/removal-budget.ts';
import type { CompactRecord } from '../../core/publish/record/compact-record.ts';
import type { OverdueLease } from '../../core/registration/health/judge-lease.ts';
import { assumedSetNotes, withAssumedSets } from '../../core/registration/cluster-sets.ts';
import { snapshotOfObjects } from '../../core/sources/snapshot-of-objects.ts';
import type { Transition } from '../../core/transition/transition.ts';
import { isOfOtherScheduler, withForeignDisabled } from '../inventory/schedulable-placement.ts';
import { type ApplicationContext } from './plan-applications.ts';
import type { RenderedSets } from './rendered-sets.ts';

/** The objects of one side in Git. */
export interface PlannedFleet {
  readonly objects: readonly SourceObject[];
  /** Absent: the same as `objects`; see `PlanSide`. */
  readonly declared?: readonly SourceObject[] | undefined;
  /** What each source declares, for its approvals. Absent: `objects` are of one source. */
  readonly bySource?: readonly (readonly SourceObject[])[] | undefined;
}

export interface ContentPlanInput {
  readonly base: { readonly fleet: PlannedFleet; readonly end: PlanEnd };
  readonly head: { readonly fleet: PlannedFleet; readonly end: PlanEnd };
  /** RFC 3339. The time of the merge. */
  readonly now: string;
  /** Works on the hub. Absent: unknown. */
  readonly works?: PlanSide['works'];
  /** The judged deletions of the merge. Absent: every object that leaves Git is deleted from the hub. */
  readonly deletions?:
    | readonly Pick<JudgedDeletions, 'left' | 'keptOnHub' | 'deleted' | 'withdrawn'>[]
    | undefined;
  /** The judged deletions that are due without the merge. Absent: none. */
  readonly due?: ContentPlanInput['deletions'];
  /** The hub. Clusters, scores and published decisions are taken from it, and the objects of Git override its own. */
  readonly hub?: Snapshot | undefined;
  /** Leases that agents are late to renew. Absent: unknown. */
  readonly overdue?: readonly OverdueLease[] | undefined;
  /** The placements on the hub that Berth decides. `own`: those of Git, and those marked as its own. Default: all. */
  readonly decides?: 'own' | 'all' | undefined;
  /**
   * The records of a placement (`namespace/name`), oldest first. Their releases do not count again, and their recent
   * removals count toward the budget. Absent: there are no records.
   */
  readonly recordsOf?: ((placement: string) => readonly CompactRecord[]) | undefined;
  /** The removal budget of a placement that does not set one itself. Absent: the default. */
  readonly budgetOf?: ((placement: Placement) => RemovalBudget | undefined) | undefined;
  /** The context for rendering ApplicationSets. Absent: they are not rendered. */
  readonly applications?: ApplicationContext | undefined;
  /** What the hub holds in place of what Git says. Absent: it holds what Git says. */
  readonly held?: { readonly before: HeldObjects; readonly after: HeldObjects } | undefined;
  /** What the hub has of add-ons. Absent: without a hub, or it is unknown. */
  readonly addOns?: HubAddOns | undefined;
  /** How removals of add-ons are judged. Absent: nothing holds them. */
  readonly addOnJudging?: Pick<AddOnJudging, 'budget' | 'removalsOf'> | undefined;
  /** The decider of an earlier plan, which makes this plan faster. Absent: a new one. */
  readonly decider?: SideDecider | undefined;
  /** The ApplicationSets that an earlier plan rendered. Absent: none. */
  readonly rendered?: RenderedSets | undefined;
  /** Assumptions about the clusters in addition to what the head declares. */
  readonly whatIf?: readonly WhatIf[] | undefined;
}

const NOTHING_HELD: NonNullable<ContentPlanInput['held']> = { before: new Map(), after: new Map() };

/** What the base and the head declare, and what the hub has beside that. */
interface ReadHub {
  readonly declared: Pick<ReturnType<typeof declaredSnapshots>, 'base' | 'head'>;
  readonly hubOnly: HubOnlyObjects;
  /** What is published now. */
  readonly decisions: Snapshot['decisions'];
  /** What is published of placements that the hub does not have and Git declares, see `LastingDecisions`. */
  readonly kept: Snapshot['decisions'];
  /** The hub as the controller sees it without the merge. */
  readonly aloneHub: ContentPlanInput['hub'];
}

interface PlannedFutures {
  readonly before: PlanSide;
  readonly after: PlanSide;
  /** That of the merge. */
  readonly transition: Transition;
  readonly judge: PlanJudge;
  readonly waiting: Plan['waiting'];
  /** @param addOns how the add-ons that placements install follow them */
  readonly laterWith: (addOns: LaterInput['addOns']) => LaterChanges;
}

/** What happens without the merge, and then with it. */
export function planFutures(
  input: ContentPlanInput & { readonly decider: SideDecider },
  { declared, hubOnly, decisions, kept, aloneHub }: ReadHub,
): PlannedFutures {
  const { base, head, decider, due = [] } = input;
  const { hubWithBase, merged } = layOver(input, declared, hubOnly, decisions);
  const dueOnly = due.length === 0 ? undefined : hubOnlyObjects(base.fleet.objects, base.fleet.objects, due);
  const isAsWithMerge = dueOnly === undefined && aloneHub === input.hub;
  const settling = isAsWithMerge
    ? hubWithBase
    : withoutMerge({ ...input, hub: aloneHub }, dueOnly ?? NOTHING_LEFT, decisions);
  const judges = judgesOf(input, {
    before: hubWithBase.placements,
    without: settling.placements,
    merged: merged.placements,
  });
  const decided = decideFutures(input, { settling, merged, decisions, kept }, judges);
  const { without, transition, withoutJudge, judge, futures } = decided;
  const compared = compareFutures(futures.without, futures.merged);
  const { staying = [], remaining = hubOnly.left } = dueOnly ?? {};
  return {
    before: {
      end: base.end,
      objects: base.fleet.objects,
      declared: base.fleet.declared,
      onHub: joined(joined(base.fleet.objects, staying), remaining),
      published: futures.without.published,
      works: input.works,
      snapshot: { ...settling, decisions: without.snapshot.decisions },
      results: compared.before,
    },
    after: {
      end: head.end,
      objects: head.fleet.objects,
      declared: head.fleet.declared,
      onHub: joined(joined(head.fleet.objects, hubOnly.staying), hubOnly.remaining),
      published: futures.merged.published,
      snapshot: transition.snapshot,
      results: compared.after,
    },
    ...{ transition, judge },
    laterWith: (addOns) =>
      laterChanges({
        ...{ without: without.snapshot, merged: transition.snapshot, overdue: input.overdue ?? [] },
        judges: laterJudges({ without: withoutJudge, merged: judge }, ({ side, earlier, then }) =>
          judges(side === 'merged' ? head : base, then.decisions, earlier, then.now),
        ),
        addOns,
      }),
    waiting: waitingChanges({
      without: futures.without,
      now: decider.published('now', hubWithBase),
      unaffected: compared.unaffected,
      holdOf: (key, published, result) => withoutJudge.hold(key, published, result, false),
    }),
  };
}

/** Decides the state of the hub without the merge, and from what is published then the one with it. */
function decideFutures(
  { base, head, now, decider, ...input }: Parameters<typeof planFutures>[0],
  {
    settling,
    merged,
    decisions,
    kept,
  }: { readonly settling: Snapshot; readonly merged: Snapshot } & Pick<ReadHub, 'decisions' | 'kept'>,
  judges: MakeJudge,
) {
  const withoutJudge = judges(base, decisions, recorded(input));
  const without = decider.transition(settling, withoutJudge);
  const { decisions: settled } = without.snapshot;
  const published = kept.length === 0 ? settled : [...settled, ...kept];
  const judge = judges(head, published, withoutJudge);
  const transition = decider.transition({ ...merged, now, decisions: published }, judge);
  const returned = returnedPlacements(transition.results, kept);
  const futures = {
    without: {
      results: [...without.results.values(), ...returned],
      published: decider.published('before', {
        placements: [...settling.placements, ...returned.map(({ placement }) => placement)],
        decisions: published,
      }),
      decisions: published,
    },
    merged: {
      results: [...transition.results.values()],
      published: decider.published('after', transition.snapshot),
      decisions: transition.snapshot.decisions,
    },
  };
  return { without, transition, withoutJudge, judge, futures };
}

/** The placements that the merge brings back to the hub. Without it nobody decides them, and their pages stay. */
function returnedPlacements(
  results: Transition['results'],
  kept: Snapshot['decisions'],
): readonly ScheduleResult[] {
  return [...new Set(kept.map(decisionOwner))].flatMap((key = ''): readonly ScheduleResult[] => {
    const result = results.get(key);
    return result === undefined ? [] : [{ ...result, outcome: 'skipped' }];
  });
}

/** Each judge counts what the ones before it publish. */
function laterJudges(
  first: Readonly<Record<'without' | 'merged', PlanJudge>>,
  make: (made: {
    readonly side: 'without' | 'merged';
    readonly earlier: PlanJudge;
    readonly then: Snapshot;
  }) => PlanJudge,
): LaterInput['judges'] {
  return () => {
    const last = { ...first };
    return (side, then) => (last[side] = make({ side, earlier: last[side], then }));
  };
}

const NOTHING_LEFT: HubOnlyObjects = {
  staying: [],
  left: [],
  remaining: [],
  returning: [],
  gone: new Set(),
};

/** The hub after the deletions that are due without the merge, before anything is decided. */
function withoutMerge(
  input: ContentPlanInput,
  dueOnly: HubOnlyObjects,
  decisions: Snapshot['decisions'],
): Snapshot {
  const { base, held = NOTHING_HELD } = input;
  const alone = { ...input, head: base, held: { ...held, after: held.before }, whatIf: [] };
  return layOver(alone, declaredSnapshots(alone, dueOnly.staying), dueOnly, decisions).merged;
}

/** Makes the judge of the base, without the merge, or of the head. */
type MakeJudge = (
  end: ContentPlanInput['head'],
  /** What is published then. */
  decisions: Snapshot['decisions'],
  /** What was published until then counts toward the budget, and meets approvals. */
  earlier: Earlier,
  /** RFC 3339. Absent: at the merge. */
  at?: string,
) => PlanJudge;

type Earlier = Pick<PlanJudge, 'recordsAfter' | 'approvalAfter'>;

function recorded({ recordsOf }: Pick<ContentPlanInput, 'recordsOf'>): Earlier {
  return { recordsAfter: (key) => recordsOf?.(key) ?? [], approvalAfter: () => 'none' };
}

/** @param placements as the hub has them before the merge, and after what is due without it and with it */
function judgesOf(
  { base, now, hub, budgetOf }: ContentPlanInput,
  placements: Readonly<Record<'before' | 'without' | 'merged', Snapshot['placements']>>,
): MakeJudge {
  return (end, decisions, earlier, at) =>
    new PlanJudge({
      base: { approvals: approvalsIn(base.fleet), placements: placements.before },
      head: {
        approvals: approvalsIn(end.fleet),
        placements: end === base ? placements.without : placements.merged,
        commit: end.end.commit,
      },
      live: hub?.placements ?? [],
      published: new PublishedClusters().read(decisions).clusters,
      recordsOf: (key) => earlier.recordsAfter(key),
      approvalOf: (key) => earlier.approvalAfter(key),
      budgetOf: budgetOf ?? (() => undefined),
      now: at ?? now,
      mergedAt: now,
      digest: sha256,
    });
}

/** The hub before the merge and after it, before anything is decided. */
function layOver(
  { base, hub, decides = 'all', held = NOTHING_HELD, whatIf = [], now, ...input }: ContentPlanInput,
  declared: Pick<ReturnType<typeof declaredSnapshots>, 'base' | 'head'>,
  hubOnly: HubOnlyObjects,
  decisions: Snapshot['decisions'],
): { readonly hubWithBase: Snapshot; readonly merged: Snapshot } {
  // A hub of which Berth decides everything has no agents.
  const writes = { status: decides === 'all' };
  const withBase = hub === undefined ? declared.base : overlaySnapshot(hub, declared.base, undefined, writes);
  const hubWithBase = { ...withHeld(withBase, held.before), now, decisions };
  const applied = snapshotOfObjects(joined(base.fleet.objects, hubOnly.returning), { now });
  const withoutDeleted = snapshotWithout(hubWithBase, hubOnly.gone);
  const withHead =
    hub === undefined
      ? declared.head
      : withoutAnnotation(
          overlaySnapshot(withoutDeleted, declared.head, applied, writes),
          givenUp({ ...input, decides }),
        );
  return { hubWithBase, merged: applyWhatIf(withHeld(withHead, held.after), whatIf) };
}

/**
 * Both sides as Git declares them; without a hub also with the sets that every hub has, and notes that say so. A hub
 * that is read says itself which sets it has.
 */
export function declaredSnapshots(
  { base, head, now, hub }: ContentPlanInput,
  staying: readonly Pick<SourceObject, 'object'>[],
): { readonly base: Snapshot; readonly head: Snapshot; readonly notes: readonly string[] } {
  const before = snapshotOfObjects(base.fleet.objects, { now });
  const after = snapshotOfObjects(joined<Pick<SourceObject, 'object'>>(head.fleet.objects, staying), { now });
  if (hub !== undefined) return { base: before, head: after, notes: [] };
  return { base: withAssumedSets(before), head: withAssumedSets(after), notes: assumedSetNotes(after) };
}

function approvalsIn({ objects, bySource = [objects] }: PlannedFleet): readonly Approvals[] {
  return bySource.map((declared) => approvedPlans(declared.map(({ object }) => object)));
}

/** Joins two lists. The first one is returned as it is if the second is empty, because caches are keyed by the list. */
function joined<T>(list: readonly T[], others: readonly T[]): readonly T[] {
  return others.length === 0 ? list : [...list, ...others];
}

/** `namespace/name` of the placements that stay on the hub without what Git applied, and that Berth does not decide then. */
function givenUp({
  decides,
  deletions = [],
}: Pick<ContentPlanInput, 'decides' | 'deletions'>): ReadonlySet<string> {
  if (decides !== 'own') return new Set();
  const placements = deletions.flatMap(({ withdrawn }) =>
    withdrawn.flatMap(({ after }) => (after.kind === PLACEMENT.kind ? [after as unknown as Placement] : [])),
  );
  return new Set(placements.filter(isOfOtherScheduler).map(({ metadata }) => namespacedName(metadata)));
}

function withoutAnnotation(snapshot: Snapshot, keys: ReadonlySet<string>): Snapshot {
  if (keys.size === 0) return snapshot;
  const placements = snapshot.placements.map((placement) => {
    if (!keys.has(namespacedName(placement.metadata))) return placement;
    const { [SCHEDULER_ANNOTATION]: _scheduler, ...annotations } = placement.metadata.annotations ?? {};
    return withForeignDisabled({ ...placement, metadata: { ...placement.metadata, annotations } });
  });
  return { ...snapshot, placements };
}
