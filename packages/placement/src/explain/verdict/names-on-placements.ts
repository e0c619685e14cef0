/**
 * On a Placement that Berth schedules: `berth`. Berth sets it together with the annotation that
 * disables other schedulers.
 */
export const SCHEDULER_ANNOTATION = 'berth.dev/scheduler';
/** Condition of a Placement with a held change. */
export const HELD_CONDITION = 'berth.dev/Held';
