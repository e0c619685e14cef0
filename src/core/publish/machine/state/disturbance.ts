import type { Disturbance } from './placement-state.ts';

/** Others that never rest must not keep a placement from its next decision. */
const MAX_WAIT_MS = 10_000;

/*
 * Decisions depend on those before (a workload likes to stay where it is), so that a result that was decided on pages as others left them
 * is no decision: the pages are restored first, and then it is decided again.
 */

/** After others changed which clusters the pages list. */
export function disturbed(earlier: Disturbance | undefined, nowMs: number): Disturbance {
  return { firstMs: stillRunning(earlier, nowMs)?.firstMs ?? nowMs, lastMs: nowMs };
}

/** Is there something to wait for? */
export function isDisturbed(disturbance: Disturbance | undefined, nowMs: number): boolean {
  const running = stillRunning(disturbance, nowMs);
  return running !== undefined && !isOver(running.firstMs, nowMs);
}

function stillRunning(disturbance: Disturbance | undefined, nowMs: number): Disturbance | undefined {
  return disturbance === undefined || isOver(disturbance.lastMs, nowMs) ? undefined : disturbance;
}

function isOver(sinceMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - sinceMs) >= MAX_WAIT_MS;
}
