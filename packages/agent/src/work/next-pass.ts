import type { ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkObservation } from '../feedback/observe-work.ts';
import type { AgentState } from '../state/agent-state.ts';
import { correctionAllowedAtMs, type WorkMemory } from '../state/work-memory.ts';

/** The rights of a denied executor are asked for again after this time. */
export const DENIED_RETRY_MS = 60_000;

/**
 * The delay of the next pass without an event: the resync, an executor that may not read, and objects
 * that are not watched.
 */
export function nextPass(
  state: AgentState,
  memory: WorkMemory,
  observation: WorkObservation,
): ReconcileOutcome {
  const { clock, random, statusSyncIntervalMs, drift, resyncIntervalMs } = state.settings;
  const nowMs = clock.now();
  const waits = [Math.max(0, memory.resyncAtMs - nowMs)];
  if (memory.resyncAtMs === 0) waits.splice(0, 1, resyncIntervalMs);
  if (observation.rights === 'denied') waits.push(DENIED_RETRY_MS);
  const untilAllowedMs = correctionAllowedAtMs(memory, resyncIntervalMs) - nowMs;
  if (memory.drifted && drift === 'watch') waits.push(Math.max(0, untilAllowedMs));
  if (memory.appliedInput === undefined && untilAllowedMs > 0) waits.push(untilAllowedMs);
  if (
    observation.rights === 'unknown' ||
    !observation.watched.every((object) => state.live.isWatched(object))
  )
    waits.push(statusSyncIntervalMs * (1 + 0.9 * random()));
  return { kind: 'requeue', afterMs: Math.min(...waits) };
}
