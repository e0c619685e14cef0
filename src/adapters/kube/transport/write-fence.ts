/** Says whether writes may be sent, and stops those that were sent when they may not go on. */
export interface WriteFence {
  /**
   * Called right before each request that may change something is sent, when it waits for no turn and no connection any more; more than
   * once where a request is sent in parts.
   *
   * @returns aborts when the write must not go on; its reason, a TransientError, is the error of the write
   * @throws TransientError when nothing may be written now
   */
  enter(): AbortSignal;
}
