import type { EachResult } from '../../core/placement/engine.ts';
import { WorldFollower } from '../../core/placement/world-follower.ts';
import type { World } from '../../core/snapshot/world.ts';

/** Berth's own engine: from one pass to the next it looks only at what changed. Results are computed as they are asked for. */
export function startEngine(): (world: World) => EachResult {
  const follower = new WorldFollower();
  return (world) => follower.decide(world);
}
