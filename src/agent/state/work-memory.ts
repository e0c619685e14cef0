import { ApplyCache } from '../apply/apply-cache.ts';

/** What the agent remembers of one work between passes; all of it can be lost without harm. */
export interface WorkMemory {
  readonly applied: ApplyCache;
  /** What was begun to apply last. */
  begunInput: string | undefined;
  /** What was applied last, to the end; undefined: nothing yet, or the last pass was not finished. */
  appliedInput: string | undefined;
  /** Objects changed on the cluster since. */
  drifted: boolean;
  /** Milliseconds since the epoch. */
  resyncAtMs: number;
  correctedAtMs: number;
  /** Corrections, and repetitions that wrote, in quick succession: somebody else wants it otherwise. */
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

/** When drift may be corrected, or an unfinished pass repeated, again: at once for the first few times, then with growing distance. */
export function correctionAllowedAtMs(memory: WorkMemory, resyncIntervalMs: number): number {
  if (memory.corrections < FREE_CORRECTIONS) return 0;
  const waitMs = Math.min(resyncIntervalMs, 1_000 * 2 ** Math.min(memory.corrections - FREE_CORRECTIONS, 20));
  return memory.correctedAtMs + waitMs;
}

export function noteCorrection(memory: WorkMemory, nowMs: number): void {
  memory.corrections = nowMs - memory.correctedAtMs > QUIET_MS ? 1 : memory.corrections + 1;
  memory.correctedAtMs = nowMs;
}
