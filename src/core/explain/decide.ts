import { PlacementEngine } from '../placement/engine.ts';
import { decisionOwner } from '../placement/decision-book.ts';
import { decisionObjects } from '../placement/render-case.ts';
import { placementKey } from '../placement/scheduling-index.ts';
import type { World } from '../snapshot/world.ts';
import type { DecidedPlacement } from './cluster-verdict.ts';
import type { PlacementRef } from './world-change.ts';

/** A decision together with the world as it was for it: with the new decisions of the placements before it. */
export interface DecisionInWorld {
  readonly world: World;
  readonly decided: DecidedPlacement;
}

/** Decides the placements in their order up to the wanted one; undefined when there is none of that name. */
export function decidePlacement(world: World, ref: PlacementRef): DecisionInWorld | undefined {
  const key = `${ref.namespace}/${ref.name}`;
  const engine = new PlacementEngine(world);
  const result = engine.scheduleUntil(key);
  const trace = engine.trace(key);
  if (result === undefined || trace === undefined) return undefined;
  const earlier = engine
    .results()
    .filter(({ placement, outcome }) => outcome !== 'skipped' && placementKey(placement) !== key);
  const replaced = new Set(earlier.map(({ placement }) => placementKey(placement)));
  const decisions = [
    ...world.decisions.filter((decision) => !replaced.has(decisionOwner(decision) ?? '')),
    ...earlier.flatMap(decisionObjects),
  ];
  return {
    world: { ...world, placements: [result.placement], decisions },
    decided: { result, trace, now: world.now },
  };
}

/** Decides the only (or first) placement of a world. */
export function decideOne(world: World): DecidedPlacement | undefined {
  const placement = world.placements[0];
  if (placement === undefined) return undefined;
  const { name, namespace = '' } = placement.metadata;
  return decidePlacement({ ...world, placements: [placement] }, { name, namespace })?.decided;
}
