/** What the API server of the managed cluster said of itself. */
export type HealthProbe =
  | { readonly kind: 'ok' }
  /** @param why e.g. `status code: 500, …` */
  | { readonly kind: 'failed'; readonly why: string };

/** Since when the probes fail; undefined: the last one did not. */
export interface HealthMemory {
  readonly failingSinceMs: number | undefined;
}

export type HealthVerdict =
  | { readonly kind: 'ok' }
  /** It fails, but not yet for so long that it is said: what was reported before goes on. */
  | { readonly kind: 'undecided' }
  | { readonly kind: 'down'; readonly why: string };

/** A failure that lasts no longer is not reported. */
export const HEALTH_TOLERANCE_MS = 20_000;
/** While probes fail they are repeated this often: the end of an outage is then reported as soon as its begin. */
export const HEALTH_RECHECK_MS = 5_000;

/**
 * Judges one probe by those before it.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/managedcluster/available_reconcile.go`.
 * @param nowMs of a clock that is never set
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
