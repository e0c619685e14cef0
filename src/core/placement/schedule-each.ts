import type { World } from '../snapshot/world.ts';
import { type EachResult, PlacementEngine } from './engine.ts';

/** Schedules every placement of the world once, in the listed order, each when it is asked for. */
export function scheduleEach(world: World): EachResult {
  return new PlacementEngine(world).scheduleEach();
}
