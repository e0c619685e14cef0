/** What one look at the clocks and at the watch of leases found. */
export interface PresenceCheck {
  /** Wall clock, milliseconds since the epoch. */
  readonly wallMs: number;
  /** Monotonic clock, milliseconds. */
  readonly monotonicMs: number;
  /** Whether this process currently receives the leases that agents renew. */
  readonly receivesLeases: boolean;
  /** Complete lists of leases so far: another one means that the watch had lost its place, or that the hub was restored. */
  readonly lists: number;
}

/** Since when (monotonic) this process has been there without a gap to see leases being renewed. Undefined: it is not now. */
export interface HubPresence {
  readonly last: PresenceCheck;
  readonly sinceMs: number | undefined;
}

/** Looks come every few seconds: a longer gap means that the process was stopped, or the machine slept. */
export const PRESENCE_CHECK_INTERVAL_MS = 2_000;
const MAX_GAP_MS = 10_000;

/**
 * The hub's own presence. Nobody is silent while the hub cannot hear: a hub that slept, was stopped, restarted or could not read leases
 * counts the time of every agent from when it was back. The gap is measured by both clocks, because the monotonic one stops while a
 * machine sleeps, and the wall clock may be set.
 */
export function continuePresence(before: HubPresence | undefined, look: PresenceCheck): HubPresence {
  if (!look.receivesLeases) return { last: look, sinceMs: undefined };
  const wasAway =
    before === undefined ||
    look.lists !== before.last.lists ||
    look.monotonicMs - before.last.monotonicMs > MAX_GAP_MS ||
    look.wallMs - before.last.wallMs > MAX_GAP_MS;
  return { last: look, sinceMs: wasAway ? look.monotonicMs : (before.sinceMs ?? look.monotonicMs) };
}
