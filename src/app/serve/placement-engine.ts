import { scheduleAll } from '../../core/placement/schedule-all.ts';
import type { ServeFleetOptions } from './serve-options.ts';

/** Berth's own engine. */
export function startEngine(): NonNullable<ServeFleetOptions['decide']> {
  return (world) => scheduleAll(world);
}
