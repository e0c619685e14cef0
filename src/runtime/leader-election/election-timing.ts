import { InputError } from '../../core/errors.ts';

/** All in milliseconds. */
export interface ElectionTiming {
  /** Others may take a lease that they saw unchanged for so long. */
  readonly leaseDurationMs: number;
  /** The holder writes nothing when its last successful renewal began longer ago than this. */
  readonly renewDeadlineMs: number;
  /** The holder renews, and the others look, this often. */
  readonly retryPeriodMs: number;
}

/** As kube-controller-manager, kube-scheduler and controller-runtime have them (client-go tools/leaderelection). */
export const DEFAULT_TIMING: ElectionTiming = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};

/** Waits are longer than asked by up to this share, so that processes that began together do not stay together. */
export const JITTER = 0.2;

/**
 * @returns the timing
 * @throws InputError when the deadline leaves no room for a second try, or the lease none for requests on their way and clocks that drift
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
