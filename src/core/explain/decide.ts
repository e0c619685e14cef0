import type { Placement } from '../model/placement.ts';
import { compileCel, toScheduleResult } from '../placement/schedule-all.ts';
import { replaceDecisions, schedulePlainly } from '../placement/plain/reference-schedule.ts';
import type { World } from '../snapshot/world.ts';
import type { DecidedPlacement } from './cluster-verdict.ts';
import { plainTrace } from './plain-trace.ts';
import type { PlacementRef } from './world-change.ts';

/** A decision together with the world as it was for it: with the new decisions of the placements before it. */
export interface DecisionInWorld {
  readonly world: World;
  readonly decided: DecidedPlacement;
}

/** Decides the placements in their order up to the wanted one; undefined when there is none of that name. */
export function decidePlacement(world: World, ref: PlacementRef): DecisionInWorld | undefined {
  let decisions = world.decisions;
  for (const placement of world.placements) {
    const so: World = { ...world, placements: [placement], decisions };
    const result = schedulePlainly(so, placement, compileCel);
    const { name, namespace = '' } = placement.metadata;
    if (name === ref.name && namespace === ref.namespace)
      return {
        world: so,
        decided: {
          result: toScheduleResult(result, placement),
          trace: plainTrace(so, placement, result),
          now: world.now,
        },
      };
    if (result.scheduled) decisions = replaceDecisions(decisions, placement, result.placementDecisions);
  }
  return undefined;
}

/** Decides the only (or first) placement of a world. */
export function decideOne(world: World): DecidedPlacement | undefined {
  const placement: Placement | undefined = world.placements[0];
  if (placement === undefined) return undefined;
  const { name, namespace = '' } = placement.metadata;
  return decidePlacement(world, { name, namespace })?.decided;
}
