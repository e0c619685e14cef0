/** A lease as one process writes it and others read it. The times are by the holder's clock and only inform people. */
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

/** Names the time during which one process holds the lease without a break: also another one for a lease that was deleted and created. */
export function termOf({ transitions, acquiredAtMs }: Lease): string {
  return `${transitions}@${acquiredAtMs}`;
}

/** Whether a term ended before another one of the same lease began. False where one of them cannot be read. */
export function isEarlierTerm(term: string, other: string): boolean {
  const [a, b] = [TERM.exec(term), TERM.exec(other)];
  if (a === null || b === null) return false;
  // Transitions start again at 0 in a lease that was deleted and created. Times are by the clocks of different machines.
  return Number(a[1]) < Number(b[1]) && Number(a[2]) < Number(b[2]);
}

const TERM = /^(\d+)@(\d+)$/;

/** Where the lease is kept. A write names the version that it replaces, so that of two writers one fails. */
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
