import type { ResultGenerator } from '../../core/placement/engine.ts';
import { IncrementalScheduler } from '../../core/placement/incremental-scheduler.ts';
import type { Snapshot } from '../../core/snapshot/snapshot.ts';

/** Berth's own engine. Between passes it computes again only what changed, and each result only on demand. */
export function startEngine(): (snapshot: Snapshot) => ResultGenerator {
  const scheduler = new IncrementalScheduler();
  return (snapshot) => scheduler.decide(snapshot);
}
