import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { errorText, TransientError } from '@berth/runtime/errors';
import { networkError, type RequestSubject } from './kube-errors.ts';

/** A request in the form in which it is sent. */
export interface WireRequest {
  /** For messages: without server, prefix and query. */
  readonly subject: RequestSubject;
  readonly method: string;
  /** With the prefix of the server and the query. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | undefined;
  /** Aborts the request and its response. */
  readonly signal: AbortSignal | undefined;
  /** Called when nothing else delays the request, before it is written to a connection. */
  readonly fence: WriteFence | undefined;
}

export interface KubeResponse {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  /** The caller must read it to its end, or destroy it. */
  readonly body: Readable;
  /** Called when the body has ended: whether the server ended it, or it was truncated. */
  readonly isWhole: () => boolean;
}

/**
 * A transport to a server. `send` resolves when the headers of the response have arrived.
 * @throws TransientError
 */
export interface KubeTransport {
  send(request: WireRequest): Promise<KubeResponse>;
  /** Opens no new connections. Free ones end now, busy ones after their requests. */
  retire(): void;
  /** Ends everything now. */
  close(): void;
}

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

/** @param afterMs since the request was sent */
export function headerTimeoutError(subject: RequestSubject, afterMs: number): TransientError {
  return new TransientError(`no response within ${afterMs} ms`, {
    code: 'kube.timeout',
    subject: `${subject.method} ${subject.path}`,
  });
}

export function noResponseError(server: string, subject: RequestSubject, cause: unknown): TransientError {
  if (cause instanceof TransientError) return cause;
  return networkError(`no response from ${server}: ${errorText(cause)}`, subject, cause);
}

/**
 * Ends a request with the reason of the signal if the signal aborts first.
 * @returns a function to call when the request is over
 */
export function endOnAbort(signal: AbortSignal, end: (reason: Error) => void): () => void {
  const onAbort = (): void => end(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  return () => signal.removeEventListener('abort', onAbort);
}
