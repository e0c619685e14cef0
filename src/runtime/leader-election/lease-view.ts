import type { StoredLease } from './lease.ts';

/**
 * The last state of a lease that this process read. Times are of this process's monotonic clock.
 */
export interface LeaseView {
  /** Undefined: there is none. */
  readonly lease: StoredLease | undefined;
  /** When another process may take it. */
  readonly freeAtMs: number;
}

/**
 * The view after a read of the store. Whether a lease is still held depends on how long this process has seen it unchanged, never on the
 * times in it, which another clock wrote (the rule of client-go's leaderelection). So a lease that is seen for the first time is held
 * for its whole duration, whatever its times are. One that was deleted was not released: it is held for the rest of its duration.
 *
 * @param nowMs when the answer arrived
 * @param defaultDurationMs of a lease that does not say how long it is held
 * @param graceMs how long an unchanged lease stays held in any case: after a time in which this process could not read the store, the
 *   holder may have been unable to write it as well
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
