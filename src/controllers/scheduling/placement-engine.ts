import type { ResultGenerator } from '../../core/placement/engine.ts';
import { IncrementalScheduler } from '../../core/placement/incremental-scheduler.ts';
import type { Snapshot } from '../../core/snapshot/snapshot.ts';

/** Berth's own engine, which computes only what changed from one pass to the next. Results are computed on demand. */
export function startEngine(): (snapshot: Snapshot) => ResultGenerator {
  const follower = new IncrementalScheduler();
  return (snapshot) => follower.decide(snapshot);
}
