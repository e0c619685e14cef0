import { TransientError } from '@berth/runtime/errors';

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
