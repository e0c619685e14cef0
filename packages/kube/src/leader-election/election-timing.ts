import { InputError } from '@berth/runtime/errors';

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
