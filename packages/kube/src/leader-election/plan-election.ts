import type { Lease } from './lease.ts';
import type { LeaseView } from './lease-view.ts';

export type ElectionMove =
  /** Another process holds the lease for at least this long. */
  | { readonly kind: 'wait'; readonly forMs: number }
  /** Take or renew the lease: create it, or replace the version that was read. */
  | { readonly kind: 'write'; readonly lease: Lease }
  /** This process held it, and another process may have led since. */
  | { readonly kind: 'lost'; readonly holder: string };

export interface ElectionState {
  readonly identity: string;
  readonly leaseDurationMs: number;
  /** Whether this process took the lease and has not lost it since. */
  readonly isLeading: boolean;
  /** Whether it was renewed within its deadline. */
  readonly isHeld: boolean;
  readonly view: LeaseView;
  /** On the monotonic clock. */
  readonly nowMs: number;
  /** Milliseconds since the epoch, for readers of the lease. */
  readonly wallMs: number;
}

/** The next step of the election. */
export function planElection(state: ElectionState): ElectionMove {
  const { identity, isLeading, isHeld, view, nowMs, wallMs, leaseDurationMs: durationMs } = state;
  const { lease, freeAtMs } = view;
  const taken = { holder: identity, durationMs, acquiredAtMs: wallMs, renewedAtMs: wallMs };
  // Only this process writes its identity, so no other process has led since. The response to its last write may have been lost.
  if (lease?.holder === identity) {
    const { acquiredAtMs, transitions } = lease;
    // A write without a change creates no new version, so other processes would not see a renewal.
    const renewedAtMs = wallMs === lease.renewedAtMs ? wallMs + 1 : wallMs;
    return { kind: 'write', lease: { ...taken, acquiredAtMs, renewedAtMs, transitions } };
  }
  if (isLeading && (lease !== undefined || !isHeld)) return { kind: 'lost', holder: lease?.holder ?? '' };
  if (!isLeading && nowMs < freeAtMs) return { kind: 'wait', forMs: freeAtMs - nowMs };
  return { kind: 'write', lease: { ...taken, transitions: lease === undefined ? 0 : lease.transitions + 1 } };
}
