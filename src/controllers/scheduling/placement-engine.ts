import type { ResultGenerator } from '@berth/placement/engine';
import { IncrementalScheduler } from '@berth/placement/incremental-scheduler';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';

/** Berth's own engine. Between cycles it computes again only what changed, and each result only on demand. */
export function startEngine(): (snapshot: Snapshot) => ResultGenerator {
  const scheduler = new IncrementalScheduler();
  return (snapshot) => scheduler.decide(snapshot);
}
