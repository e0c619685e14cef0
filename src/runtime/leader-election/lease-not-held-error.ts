import { TransientError } from '../../core/errors.ts';

/**
 * A write that was not sent, or was aborted without a response, because this process may no longer
 * hold the lease.
 */
export class LeaseNotHeldError extends TransientError {
  /**
   * @param lease its name
   * @param wasSent whether the write was on its way
   */
  constructor(lease: string, wasSent = false) {
    const message = wasSent
      ? 'ran out before the hub answered, so it is not known whether this was written'
      : 'not held by this process now, so nothing was written';
    super(message, { code: 'election.not-held', subject: lease });
  }
}
