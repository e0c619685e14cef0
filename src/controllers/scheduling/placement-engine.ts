import type { EachResult } from '../../core/placement/engine.ts';
import { WorldFollower } from '../../core/placement/world-follower.ts';
import type { World } from '../../core/snapshot/world.ts';

/** Berth's own engine, which computes only what changed from one pass to the next. Results are computed on demand. */
export function startEngine(): (world: World) => EachResult {
  const follower = new WorldFollower();
  return (world) => follower.decide(world);
}
