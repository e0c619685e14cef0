import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { errorText, TransientError } from '../../../core/errors.ts';
import { networkError, type RequestSubject } from './kube-errors.ts';
import type { WriteFence } from './write-fence.ts';

/** A request as it goes on the wire. */
export interface WireRequest {
  /** For messages: without server, prefix and query. */
  readonly subject: RequestSubject;
  readonly method: string;
  /** With the server's prefix and the query. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | undefined;
  /** Aborts the request and its response. */
  readonly signal: AbortSignal | undefined;
  /** Asked when nothing is left to wait for before the request goes onto a connection. */
  readonly fence: WriteFence | undefined;
}

export interface KubeResponse {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  /** To be read to its end, or destroyed. */
  readonly body: Readable;
  /** Asked when the body has ended: did the server end it, or was it cut? */
  readonly isWhole: () => boolean;
}

/** One way to a server. Resolves when the response's headers are there; rejects with a TransientError. */
export interface KubeTransport {
  send(request: WireRequest): Promise<KubeResponse>;
  /** No new connections; free ones end now, busy ones when their requests do. */
  retire(): void;
  /** Everything ends now. */
  close(): void;
}

/** @param afterMs from the moment the request was on the wire */
export function headerTimeoutError(subject: RequestSubject, afterMs: number): TransientError {
  return new TransientError(`no answer within ${afterMs} ms`, {
    code: 'kube.timeout',
    subject: `${subject.method} ${subject.path}`,
  });
}

export function noAnswerError(server: string, subject: RequestSubject, cause: unknown): TransientError {
  if (cause instanceof TransientError) return cause;
  return networkError(`no answer from ${server}: ${errorText(cause)}`, subject, cause);
}

/** Ends a request with the reason of a signal that aborts before the request is over. @returns to be called when it is over */
export function endOnAbort(signal: AbortSignal, end: (reason: Error) => void): () => void {
  const onAbort = (): void => end(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  return () => signal.removeEventListener('abort', onAbort);
}
