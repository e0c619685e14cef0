import type { Clock } from '@berth/runtime/clock/clock';
import { TransientError } from '@berth/runtime/errors';
import { sleep } from '@berth/runtime/loop/sleep';

/** One call of a function of an add-on: longer than a chart takes, and short enough that others get their turn. */
const LIMIT_MS = 30_000;

/**
 * Calls a function that an add-on's author wrote. Its signal aborts with the given one, and when its time is over.
 * @param what the function, for users: `manifests of add-on helloworld`
 * @throws what the function throws; TransientError when it has not answered in 30 seconds
 */
export async function callAuthor<T>(
  what: string,
  call: (signal: AbortSignal) => Promise<T>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<T> {
  const over = new AbortController();
  const stop = AbortSignal.any([signal, over.signal]);
  const late = sleep(clock, LIMIT_MS, stop).then(() => {
    throw new TransientError('has not answered for 30 s', { code: 'addon.no-answer', subject: what });
  });
  // When the call is over first, nobody listens to it any more.
  late.catch(() => undefined);
  try {
    return await Promise.race([call(stop), late]);
  } finally {
    over.abort();
  }
}
