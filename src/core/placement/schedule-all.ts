import type { World } from '../snapshot/world.ts';
import type { EngineOptions } from './engine.ts';
import { PlacementEngine } from './engine.ts';
import type { ScheduleResult } from './result/schedule-result.ts';

/** Schedules every placement of the world once, in the listed order; one result each, at the same index. */
export function scheduleAll(world: World, options: EngineOptions = {}): readonly ScheduleResult[] {
  return new PlacementEngine(world, options).scheduleAll();
}
