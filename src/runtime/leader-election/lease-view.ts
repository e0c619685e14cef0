import type { StoredLease } from './lease.ts';

/** A lease as this process saw it last. Times are of this process's monotonic clock. */
export interface LeaseView {
  /** Undefined: there is none. */
  readonly lease: StoredLease | undefined;
  /** From then on another process than its holder may take it. */
  readonly freeAtMs: number;
}

/**
 * What a look at the store means, after the one before. Whether a lease is still held follows from how long this process saw it unchanged
 * and never from the times in it, which another clock wrote (the rule of client-go's leaderelection). So a lease that was never seen
 * before is held for its whole duration, however old it says it is. One that vanishes was not released: it counts for as long as it
 * would have.
 *
 * @param nowMs when the answer was there
 * @param defaultDurationMs of a lease that does not say how long it is held
 * @param graceMs how long an unchanged lease is left to its holder in any case: who could not look for a while does not know that the holder
 *   could have renewed
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
