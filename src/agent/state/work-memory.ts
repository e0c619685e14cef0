import { ApplyCache } from '../apply/apply-cache.ts';

/** What the agent remembers about one work between passes. All of it can be lost without harm. */
export interface WorkMemory {
  readonly applied: ApplyCache;
  /** The input of the last apply that was started. */
  begunInput: string | undefined;
  /** The input of the last apply that was completed; undefined: none yet, or the last pass was not completed. */
  appliedInput: string | undefined;
  /** Whether objects on the cluster have changed since. */
  drifted: boolean;
  /** Milliseconds since the epoch. */
  resyncAtMs: number;
  correctedAtMs: number;
  /**
   * The number of corrections, and of repetitions that wrote, in quick succession. They show that another writer wants
   * another state.
   */
  corrections: number;
}

export function newWorkMemory(): WorkMemory {
  return {
    applied: new ApplyCache(),
    begunInput: undefined,
    appliedInput: undefined,
    drifted: false,
    resyncAtMs: 0,
    correctedAtMs: 0,
    corrections: 0,
  };
}

const FREE_CORRECTIONS = 3;
const QUIET_MS = 600_000;

/**
 * When drift may be corrected again, or an incomplete pass repeated: at once for the first few times, then with growing
 * pauses.
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
