import type { Clock } from '@berth/runtime/clock/clock';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { warmUpTransitions } from '../../core/transition/warm-up-transitions.ts';
import { sleep } from '@berth/runtime/loop/sleep';
import { TimeSlices } from '@berth/runtime/loop/time-slices';
import { startEngine } from '@berth/placement/incremental-scheduler';

/** Clusters times placements. In a smaller fleet, warming up takes longer than the first change. */
const WORTH_WARMING = 100_000;
const SLICE_MS = 5;

/**
 * Runs the engine so that its code is compiled before the first change, which otherwise took four
 * times as long as later ones with 1,000 clusters. It yields to the rest of the process.
 */
export async function warmEngine(snapshot: Snapshot, clock: Clock, signal: AbortSignal): Promise<void> {
  if (snapshot.clusters.length * snapshot.placements.length < WORTH_WARMING) return;
  const slices = new TimeSlices(clock, SLICE_MS);
  for (const _ of warmUpTransitions(startEngine())) {
    if (!slices.isOver()) continue;
    await sleep(clock, 0, signal);
    if (signal.aborted) return;
    slices.begin();
  }
}
