import type { Disturbance } from './placement-state.ts';

/**
 * How long Berth waits for a new decision after changes by others. Without a limit, endless changes
 * would block the placement.
 */
const MAX_WAIT_MS = 10_000;

/*
 * Decisions depend on earlier ones: Steady prefers clusters that are published. Berth therefore
 * discards a result that was computed from pages that others changed. It first restores the pages,
 * and then decides the placement again.
 */

/** The disturbance after others changed which clusters the pages list. */
export function extendDisturbance(earlier: Disturbance | undefined, nowMs: number): Disturbance {
  return { firstMs: stillRunning(earlier, nowMs)?.firstMs ?? nowMs, lastMs: nowMs };
}

/** Whether a new decision has to wait because of changes by others. */
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
