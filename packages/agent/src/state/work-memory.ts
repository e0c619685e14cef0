import { ApplyCache } from '../apply/apply-cache.ts';

/** State of one work between passes, which may be lost at any time. */
export interface WorkMemory {
  readonly applied: ApplyCache;
  /** Digest of the last input whose apply was started. */
  begunInput: string | undefined;
  /**
   * Digest of the last input that was applied completely; undefined: none, or the last pass was not
   * finished.
   */
  appliedInput: string | undefined;
  /** Whether a manifest could not be applied in the last pass, and is tried again soon. */
  failed: boolean;
  /** Whether objects on the cluster have changed since. */
  drifted: boolean;
  /** Milliseconds since the epoch. */
  resyncAtMs: number;
  correctedAtMs: number;
  /** Number of recent corrections, which show that another client keeps changing objects. */
  corrections: number;
}

export function newWorkMemory(): WorkMemory {
  return {
    applied: new ApplyCache(),
    begunInput: undefined,
    appliedInput: undefined,
    failed: false,
    drifted: false,
    resyncAtMs: 0,
    correctedAtMs: 0,
    corrections: 0,
  };
}

/** Corrections without a delay. */
const FREE_CORRECTIONS = 3;
/** After this time without a correction, the count starts again. */
const QUIET_MS = 600_000;

/**
 * When drift may be corrected, or an unfinished pass repeated, again: immediately the first few
 * times, then with growing delay.
 */
export function correctionAllowedAtMs(memory: WorkMemory, resyncIntervalMs: number): number {
  if (memory.corrections < FREE_CORRECTIONS) return 0;
  const waitMs = Math.min(resyncIntervalMs, 1_000 * 2 ** Math.min(memory.corrections - FREE_CORRECTIONS, 20));
  return memory.correctedAtMs + waitMs;
}

export function noteCorrection(memory: WorkMemory, nowMs: number): void {
  memory.corrections = nowMs - memory.correctedAtMs > QUIET_MS ? 1 : memory.corrections + 1;
  memory.correctedAtMs = nowMs;
}
