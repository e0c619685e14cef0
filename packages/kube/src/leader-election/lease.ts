import { TransientError, InputError } from '@berth/runtime/errors';

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
 * Identifies the period in which one process has the lease without interruption; a lease that was
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

/** All values are in milliseconds. */
export interface ElectionTiming {
  /** Other processes may take a lease that was unchanged for this long. */
  readonly leaseDurationMs: number;
  /** The holder writes nothing if it sent its last successful renewal longer ago than this. */
  readonly renewDeadlineMs: number;
  /** Interval in which the holder renews, and others read, the lease. */
  readonly retryPeriodMs: number;
}

/**
 * The defaults of kube-controller-manager, kube-scheduler and controller-runtime (client-go
 * tools/leaderelection).
 */
export const DEFAULT_TIMING: ElectionTiming = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};

/** Waits are extended randomly by up to this fraction, so that processes do not run in step. */
export const JITTER = 0.2;

/**
 * @returns the timing
 * @throws InputError when the deadline is too short for a second try, or the lease too short for
 * pending requests and clock drift
 */
export function checkTiming(timing: ElectionTiming): ElectionTiming {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = timing;
  // A lease stores its duration in whole seconds.
  if (leaseDurationMs < 1_000 || leaseDurationMs % 1_000 !== 0)
    throw wrong('lease duration', leaseDurationMs, 'a whole number of seconds, at least 1 s');
  if (renewDeadlineMs >= leaseDurationMs)
    throw wrong('renew deadline', renewDeadlineMs, `less than the lease duration (${leaseDurationMs} ms)`);
  const least = retryPeriodMs * (1 + JITTER);
  if (retryPeriodMs <= 0 || renewDeadlineMs <= least)
    throw wrong(
      'retry period',
      retryPeriodMs,
      `more than 0 and well below the renew deadline (${renewDeadlineMs} ms)`,
    );
  return timing;
}

function wrong(subject: string, gotMs: number, expected: string): InputError {
  return new InputError(`got ${gotMs} ms, expected ${expected}`, {
    code: 'election.timing',
    subject: `Leader election, ${subject}`,
  });
}

/**
 * A write that was not sent, or was aborted without a response, because this process may no longer
 * hold the lease.
 */
export class LeaseNotHeldError extends TransientError {
  /**
   * @param lease the name of the lease
   * @param wasSent whether the write may have reached the hub
   */
  constructor(lease: string, wasSent = false) {
    const message = wasSent
      ? 'ran out before the hub answered, so it is unknown whether this was written'
      : 'is not held by this process now, so nothing was written';
    super(message, { code: 'election.not-held', subject: lease });
  }
}
