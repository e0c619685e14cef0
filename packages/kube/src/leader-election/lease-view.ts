import type { StoredLease } from './lease.ts';

/**
 * The last state of a lease that this process read. Times are of this process's monotonic clock.
 */
export interface LeaseView {
  /** Undefined if there is no lease. */
  readonly lease: StoredLease | undefined;
  /** When another process may take it. */
  readonly freeAtMs: number;
}

/**
 * The view after a read from the store. Whether a lease is still held depends on how long this process has seen it
 * unchanged, and never on the times in it, which another clock wrote (the rule of client-go's leaderelection). So a
 * lease that is seen for the first time counts as held for its whole duration. A lease that was deleted was not
 * released, so it counts as held for the rest of its duration.
 *
 * @param nowMs when the response arrived
 * @param defaultDurationMs for a lease that does not contain its duration
 * @param graceMs how long an unchanged lease stays held in any case: while this process could not read the store,
 *   perhaps the holder could not write it
 */
export function viewLease(
  before: LeaseView | undefined,
  lease: StoredLease | undefined,
  how: { readonly nowMs: number; readonly defaultDurationMs: number; readonly graceMs: number },
): LeaseView {
  const { nowMs, defaultDurationMs, graceMs } = how;
  if (lease === undefined) return { lease, freeAtMs: before?.freeAtMs ?? nowMs };
  if (before?.lease?.version === lease.version)
    return lease.holder === '' ? before : { lease, freeAtMs: Math.max(before.freeAtMs, nowMs + graceMs) };
  if (lease.holder === '') return { lease, freeAtMs: nowMs };
  return { lease, freeAtMs: nowMs + (lease.durationMs > 0 ? lease.durationMs : defaultDurationMs) };
}
