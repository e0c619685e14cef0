import type { Snapshot } from './snapshot/snapshot.ts';
import { type ResultGenerator, PlacementEngine } from './engine.ts';

/**
 * Schedules every placement of the snapshot once, in the listed order. Each result is computed when
 * the caller asks for it.
 */
export function scheduleEach(snapshot: Snapshot): ResultGenerator {
  return new PlacementEngine(snapshot).scheduleEach();
}
