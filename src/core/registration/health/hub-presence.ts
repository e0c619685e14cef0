/** The result of one check of the clocks and of the watch of Leases. */
export interface PresenceCheck {
  /** Wall clock, milliseconds since the epoch. */
  readonly wallMs: number;
  /** Monotonic clock, milliseconds. */
  readonly monotonicMs: number;
  /** The time since the machine started, sleep included, milliseconds. */
  readonly sinceBootMs: number;
  /** Whether this process currently receives the Leases that agents renew. */
  readonly receivesLeases: boolean;
  /**
   * Number of complete lists of Leases so far. Another list means that the watch lost its position, or that the hub was
   * restored.
   */
  readonly lists: number;
}

/**
 * Since when (monotonic) this process has observed the Leases without a gap. Undefined if it does not observe them now.
 */
export interface HubPresence {
  readonly last: PresenceCheck;
  readonly sinceMs: number | undefined;
}

/** Checks run every few seconds. A longer gap means that the process was paused, or that the machine slept. */
export const PRESENCE_CHECK_INTERVAL_MS = 2_000;
const MAX_GAP_MS = 10_000;

/**
 * Whether the hub observes its agents. No agent counts as silent while the hub cannot observe it: after a sleep, a
 * pause, a restart or a time without reading Leases, the time of every agent counts from when the hub resumed. The gap
 * is measured by three clocks: the monotonic clock stops while a machine sleeps, the wall clock may be set back by as much
 * when it wakes, and a container may see a time since the start that does not count sleep.
 */
export function continuePresence(before: HubPresence | undefined, check: PresenceCheck): HubPresence {
  if (!check.receivesLeases) return { last: check, sinceMs: undefined };
  const hadGap =
    before === undefined ||
    check.lists !== before.last.lists ||
    check.monotonicMs - before.last.monotonicMs > MAX_GAP_MS ||
    check.sinceBootMs - before.last.sinceBootMs > MAX_GAP_MS ||
    check.wallMs - before.last.wallMs > MAX_GAP_MS;
  return { last: check, sinceMs: hadGap ? check.monotonicMs : (before.sinceMs ?? check.monotonicMs) };
}
