/** Decides whether writes may be sent, and aborts those that must not continue. */
export interface WriteFence {
  /**
   * Called directly before each request that may change something is sent, when it no longer waits for a slot or a
   * connection. It is called several times for a request that is sent in parts.
   *
   * @returns a signal that aborts when the write must not continue; its reason, a TransientError, becomes the error of
   *   the write
   * @throws TransientError when nothing may be written now
   */
  enter(): AbortSignal;
}
