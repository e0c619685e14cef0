/**
 * A lease as one process writes it and others read it. The times are from the holder's clock, and
 * are information only.
 */
export interface Lease {
  /** The identity of the holder; '' when it was released. */
  readonly holder: string;
  /** How long others must see it unchanged before they may take it; 0 if the store does not contain it. */
  readonly durationMs: number;
  /** How many times the holder has changed. */
  readonly transitions: number;
  /** Milliseconds since the epoch. */
  readonly acquiredAtMs: number;
  readonly renewedAtMs: number;
}

export interface StoredLease extends Lease {
  /** Different after every write. */
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
  // Transitions restart at 0 in a lease that was deleted and created again. Times come from the clocks of different machines.
  return Number(a[1]) < Number(b[1]) && Number(a[2]) < Number(b[2]);
}

const TERM = /^(\d+)@(\d+)$/;

/**
 * The store of the lease. A write specifies the version that it replaces, so that one of two
 * concurrent writers fails.
 */
export interface LeaseStore {
  /** The name, for messages. */
  readonly name: string;
  /** Undefined if there is no lease. */
  read(): Promise<StoredLease | undefined>;
  /** @throws ConflictError when a lease exists */
  create(lease: Lease): Promise<StoredLease>;
  /** @throws ConflictError when it was written or deleted since */
  replace(before: StoredLease, lease: Lease): Promise<StoredLease>;
}
