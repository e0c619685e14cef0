import type { Snapshot } from './snapshot/snapshot.ts';
import type { EngineOptions } from './engine-options.ts';
import { PlacementEngine } from './engine.ts';
import type { ScheduleResult } from './result/schedule-result.ts';

/**
 * Schedules every placement of the snapshot once, in the listed order. Each result has the index of
 * its placement.
 */
export function scheduleAll(snapshot: Snapshot, options: EngineOptions = {}): readonly ScheduleResult[] {
  return new PlacementEngine(snapshot, options).scheduleAll();
}
