import type { Disturbance } from './placement-state.ts';

/** Endless changes by others must not block the next decision of a placement. */
const MAX_WAIT_MS = 10_000;

/*
 * Decisions depend on earlier ones (Steady prefers clusters that are published). A result that was computed from pages
 * that others changed is therefore discarded: the pages are restored first, then the placement is decided again.
 */

/** After others changed which clusters the pages list. */
export function extendDisturbance(earlier: Disturbance | undefined, nowMs: number): Disturbance {
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
