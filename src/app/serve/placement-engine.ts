import { WorldFollower } from '../../core/placement/follow/world-follower.ts';
import type { ServeFleetOptions } from './serve-options.ts';

/** Berth's own engine: from one pass to the next it looks only at what changed. Results are computed as they are asked for. */
export function startEngine(): NonNullable<ServeFleetOptions['decide']> {
  const follower = new WorldFollower();
  return (world) => follower.decide(world);
}
