import { createHash } from 'node:crypto';
import { formatRfc3339, instantFromEpochMs } from '../../core/model/rfc3339.ts';
import { scheduleAll } from '../../core/placement/schedule-all.ts';
import { makePlan } from '../../core/preview/make-plan.ts';
import type { Plan, PlanEnd } from '../../core/preview/plan.ts';
import type { PlanSide } from '../../core/preview/plan-input.ts';
import { judgeResult } from '../../core/publish/judge-result.ts';
import { planToken } from '../../core/publish/plan-token.ts';
import { RELEASE_ANNOTATION, REMOVAL_BUDGET_ANNOTATION } from '../../core/publish/publish-annotations.ts';
import { DEFAULT_REMOVAL_BUDGET, parseRemovalBudget } from '../../core/publish/removal-budget.ts';
import { withRecordedResults } from '../../core/explain/recorded-decisions.ts';
import type { World } from '../../core/snapshot/world.ts';
import { worldOf } from '../../core/sources/world-of.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { moveExplainer } from './explain-moves.ts';

export interface FleetPlanInput {
  readonly base: { readonly fleet: Fleet; readonly end: PlanEnd };
  readonly head: { readonly fleet: Fleet; readonly end: PlanEnd };
  /** RFC 3339; absent: when the later of the two commits was made, so that a plan can be repeated. */
  readonly now?: string | undefined;
}

/** Rounds after which decisions that keep changing each other are taken as they are. */
const MAX_ROUNDS = 5;

/** The plan between two fleets, with the same engine, holds and explanations as after the merge. */
export function planFleets({ base, head, now }: FleetPlanInput): Plan {
  const present = now ?? presentOf([base.fleet, head.fleet]);
  const baseWorld = worldOf(base.fleet.objects, { now: present });
  const decisions = decisionsOfBefore(baseWorld);
  const sides = [base, head].map(({ fleet, end }): PlanSide => {
    const world = { ...worldOf(fleet.objects, { now: present }), decisions };
    return { end, objects: fleet.objects, world, results: scheduleAll(world) };
  });
  const [before, after] = sides as [PlanSide, PlanSide];
  const plan = makePlan(before, after, {
    explain: moveExplainer(before, after),
    token: (key, old, next) => planToken(sha256, key, old, next),
    judge: (key, published, result, definitionChanged) => {
      const annotations = result.placement.metadata.annotations ?? {};
      const verdict = judgeResult({
        result,
        published,
        specChanged: definitionChanged,
        budget: parseRemovalBudget(annotations[REMOVAL_BUDGET_ANNOTATION] ?? '') ?? DEFAULT_REMOVAL_BUDGET,
        recentlyRemoved: 0,
        inventoryProblem: undefined,
        token: planToken(sha256, key, published, result.selected),
        releasedToken: annotations[RELEASE_ANNOTATION],
      });
      return verdict.kind === 'held' ? { reason: verdict.reason, message: verdict.message } : undefined;
    },
  });
  if (baseWorld.decisions.length > 0 || baseWorld.placements.length === 0) return plan;
  return { ...plan, notEvaluated: [...plan.notEvaluated, NOTHING_RECORDED] };
}

const NOTHING_RECORDED =
  'No PlacementDecisions are recorded: what the base decides by itself counts as what is published now.';

/** What is published before the change: as recorded, else what the base decides for itself once it has settled. */
function decisionsOfBefore(world: World): World['decisions'] {
  if (world.decisions.length > 0) return world.decisions;
  let settled = world;
  let last = '';
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const results = scheduleAll(settled);
    const selected = JSON.stringify(results.map((result) => result.selected.toSorted()));
    if (selected === last) break;
    last = selected;
    settled = withRecordedResults(settled, results);
  }
  return settled.decisions;
}

function presentOf(fleets: readonly Fleet[]): string {
  const times = fleets.map(({ commit }) => commit?.committer.timeMs ?? 0);
  return formatRfc3339(instantFromEpochMs(Math.max(...times)));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
