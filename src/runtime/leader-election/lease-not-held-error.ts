import { TransientError } from '../../core/errors.ts';

/** A write that was not sent, since this process does not hold the lease, or cannot prove that it still does. */
export class LeaseNotHeldError extends TransientError {
  /** @param lease its name */
  constructor(lease: string) {
    super('not held by this process now, so nothing was written', {
      code: 'election.not-held',
      subject: lease,
    });
  }
}
