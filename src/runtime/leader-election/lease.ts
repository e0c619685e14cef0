/**
 * A lease as one process writes it and others read it. The times are from the holder's clock, and
 * are information only.
 */
export interface Lease {
  /** Identity of the process that holds it; '' when it was released. */
  readonly holder: string;
  /** How long others must see it unchanged before they may take it; 0 when the store does not say. */
  readonly durationMs: number;
  /** How often the holder changed. */
  readonly transitions: number;
  /** Milliseconds since the epoch. */
  readonly acquiredAtMs: number;
  readonly renewedAtMs: number;
}

export interface StoredLease extends Lease {
  /** Another one after every write. */
  readonly version: string;
}

/**
 * Identifies the period in which one process holds the lease without interruption; a lease that was
 * deleted and created again has a new term.
 */
export function termOf({ transitions, acquiredAtMs }: Lease): string {
  return `${transitions}@${acquiredAtMs}`;
}

/**
 * Whether a term ended before another one of the same lease started. False if one of them cannot be
 * parsed.
 */
export function isEarlierTerm(term: string, other: string): boolean {
  const [a, b] = [TERM.exec(term), TERM.exec(other)];
  if (a === null || b === null) return false;
  // Transitions start again at 0 in a lease that was deleted and created. Times are by the clocks of different machines.
  return Number(a[1]) < Number(b[1]) && Number(a[2]) < Number(b[2]);
}

const TERM = /^(\d+)@(\d+)$/;

/**
 * The store of the lease. A write specifies the version that it replaces, so that one of two
 * concurrent writers fails.
 */
export interface LeaseStore {
  /** For messages. */
  readonly name: string;
  /** Undefined: there is none. */
  read(): Promise<StoredLease | undefined>;
  /** @throws ConflictError when there is one */
  create(lease: Lease): Promise<StoredLease>;
  /** @throws ConflictError when it was written since, or is gone */
  replace(before: StoredLease, lease: Lease): Promise<StoredLease>;
}
