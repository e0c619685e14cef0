import { sha256 } from '../../runtime/sha256.ts';
import type { Placement } from '../../core/model/kind/placement.ts';
import { namespacedName } from '../../core/model/object-ref.ts';
import { PublishedClusters } from '../../core/placement/prior/published-clusters.ts';
import { scheduleAll } from '../../core/placement/schedule-all.ts';
import { scheduleEach } from '../../core/placement/schedule-each.ts';
import { makePlan } from '../../core/preview/make-plan.ts';
import { overlayWorld } from '../../core/preview/overlay-world.ts';
import { worldWithout } from '../../core/preview/world-without.ts';
import type { JudgedDeletions } from '../../core/preview/judged-deletions.ts';
import { standingObjects } from '../../core/preview/standing-objects.ts';
import type { SourceObject } from '../../core/model/source-object.ts';
import type { Plan, PlanEnd } from '../../core/preview/plan.ts';
import type { PlanSide } from '../../core/preview/plan-input.ts';
import { PlanJudge } from '../../core/preview/plan-judge.ts';
import type { CompactRecord } from '../../core/publish/record/compact-record.ts';
import type { RemovalBudget } from '../../core/publish/judge/removal-budget.ts';
import type { World } from '../../core/snapshot/world.ts';
import { publishedResults } from '../../core/transition/published-results.ts';
import { completeTransition, type TransitionOptions } from '../../core/transition/transition.ts';
import { worldOf } from '../../core/sources/world-of.ts';
import { moveExplainer } from '../../core/preview/explain-moves.ts';

interface PlannedFleet {
  readonly objects: readonly SourceObject[];
}

export interface FleetPlanInput {
  readonly base: { readonly fleet: PlannedFleet; readonly end: PlanEnd };
  readonly head: { readonly fleet: PlannedFleet; readonly end: PlanEnd };
  /** RFC 3339: when the merge happens. */
  readonly now: string;
  /** Works on the hub; absent: they are unknown. */
  readonly works?: PlanSide['works'];
  /** What happens to the deletions of the merge. Absent: what leaves Git leaves the hub. */
  readonly deletions?: readonly Pick<JudgedDeletions, 'members' | 'stays' | 'goes'>[] | undefined;
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
export function planFleets(input: FleetPlanInput): Plan {
  const { base, head, now: present, hub, recordsOf, budgetOf, deletions = [] } = input;
  const found = standingObjects(base.fleet.objects, head.fleet.objects, deletions);
  const baseWorld = worldOf(base.fleet.objects, { now: present });
  const headWorld = worldOf([...head.fleet.objects, ...found.staying], { now: present });
  const decisions = hub?.decisions ?? decisionsOfBefore(baseWorld);
  const { clusters: published } = new PublishedClusters().read(decisions);
  const judge = new PlanJudge({
    base: { objects: base.fleet.objects, placements: baseWorld.placements },
    head: { objects: head.fleet.objects, placements: headWorld.placements, commit: head.end.commit },
    live: hub?.placements ?? [],
    published,
    recordsOf: recordsOf ?? (() => []),
    budgetOf: budgetOf ?? (() => undefined),
    now: present,
    digest: sha256,
  });
  const laidOver = {
    ...(hub === undefined ? baseWorld : overlayWorld(hub, baseWorld, undefined)),
    now: present,
    decisions,
  };
  const applied = worldOf([...base.fleet.objects, ...found.returning], { now: present });
  const lasting = worldWithout(laidOver, found.gone);
  const merged = hub === undefined ? headWorld : overlayWorld(lasting, headWorld, applied);
  const before: PlanSide = {
    end: base.end,
    objects: base.fleet.objects,
    standing: [...base.fleet.objects, ...found.left],
    published: publishedOf(laidOver),
    works: input.works,
    world: laidOver,
    results: publishedResults(scheduleAll(laidOver), decisions),
  };
  const after = completeTransition(
    { decide: scheduleEach, outcomeOf: (key, result) => judge.outcomeOf(key, result) },
    { ...merged, now: present, decisions },
  );
  const side: PlanSide = {
    end: head.end,
    objects: head.fleet.objects,
    standing: [...head.fleet.objects, ...found.staying, ...found.remaining],
    published: publishedOf(after.world),
    world: after.world,
    results: [...after.results.values()],
  };
  const plan = makePlan(before, side, {
    explain: moveExplainer(before, (key) => after.decidedIn.get(key) ?? after.world),
    token: (key, from, to) => judge.token(key, from, to),
    judge: (key, from, result, definitionChanged) => judge.hold(key, from, result, definitionChanged),
  });
  if (hub !== undefined || baseWorld.decisions.length > 0 || baseWorld.placements.length === 0) return plan;
  return { ...plan, notEvaluated: [...plan.notEvaluated, NOTHING_RECORDED] };
}

const NOTHING_RECORDED = 'No PlacementDecisions are recorded: what the base decides counts as published now.';

/** What is published before the change: as recorded, else what the base decides for itself. */
export function decisionsOfBefore(world: World): World['decisions'] {
  if (world.decisions.length > 0) return world.decisions;
  const outcomeOf: TransitionOptions['outcomeOf'] = (_key, { selected }) => selected;
  return completeTransition({ decide: scheduleEach, outcomeOf }, world).world.decisions;
}

/** Of each placement that exists. */
function publishedOf({ placements, decisions }: World): ReadonlyMap<string, readonly string[]> {
  const { clusters } = new PublishedClusters().read(decisions);
  const keys = placements.map(({ metadata }) => namespacedName(metadata));
  return new Map(keys.map((key) => [key, [...new Set(clusters.get(key))]]));
}
