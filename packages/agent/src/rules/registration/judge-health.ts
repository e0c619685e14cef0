import type { HealthProbe } from '@berth/kube/probe-server';

/** The time since which the probes fail; undefined if the last one succeeded. */
export interface HealthMemory {
  readonly failingSinceMs: number | undefined;
}

export type HealthVerdict =
  | { readonly kind: 'ok' }
  /** The probe failed, but not long enough to be reported. The previous report stays. */
  | { readonly kind: 'undecided' }
  | { readonly kind: 'down'; readonly why: string };

/** Shorter failures are not reported. */
export const HEALTH_TOLERANCE_MS = 20_000;
/**
 * The interval of probes during a failure. It is short, so that the end of an outage is reported as soon as its start.
 */
export const HEALTH_RECHECK_MS = 5_000;

/**
 * Judges one probe, given the earlier ones.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/managedcluster/available_reconcile.go`.
 * @param nowMs by a monotonic clock
 */
export function judgeHealth(
  memory: HealthMemory,
  probe: HealthProbe,
  nowMs: number,
): { readonly memory: HealthMemory; readonly verdict: HealthVerdict } {
  if (probe.kind === 'ok') return { memory: { failingSinceMs: undefined }, verdict: { kind: 'ok' } };
  const failingSinceMs = memory.failingSinceMs ?? nowMs;
  const isLong = nowMs - failingSinceMs >= HEALTH_TOLERANCE_MS;
  return {
    memory: { failingSinceMs },
    verdict: isLong ? { kind: 'down', why: probe.why } : { kind: 'undecided' },
  };
}
