import type { JsonObject } from '../json/json-value.ts';
import type { StatusError } from './status-error.ts';
import { warningHeaders } from './warning-headers.ts';

/** The response of a handler; only the transport writes it. */
export type ApiResponse = BodyResponse | ChunkedResponse | StreamResponse | ForwardedResponse;

export type ResponseHeaders = Readonly<Record<string, string | readonly string[]>>;

export interface BodyResponse {
  readonly kind: 'body';
  readonly code: number;
  readonly contentType: string;
  readonly body: string | Buffer;
  readonly headers?: ResponseHeaders;
}

/** A large body in chunks; the transport yields to other requests between them. */
export interface ChunkedResponse {
  readonly kind: 'chunks';
  readonly code: number;
  readonly contentType: string;
  readonly chunks: Iterable<string>;
}

/** A stream until either side ends it; the headers are sent immediately. */
export interface StreamResponse {
  readonly kind: 'stream';
  readonly contentType: string;
  readonly headers?: ResponseHeaders;
  readonly run: (sink: StreamSink) => void;
}

/** The handler writes the response itself (proxying). */
export interface ForwardedResponse {
  readonly kind: 'forwarded';
  readonly code: number;
}

export interface StreamSink {
  /** @returns the unread bytes after this write */
  write(text: string | Buffer): number;
  /** Resolves when the client has read everything, or is disconnected. */
  drained(): Promise<void>;
  end(): void;
  /** Closes the connection of a client that does not read. */
  destroy(): void;
  /** Called once when the client disconnects or the stream ends. */
  onClose(callback: () => void): void;
}

export function jsonResponse(
  code: number,
  body: JsonObject | string,
  headers?: ResponseHeaders,
): BodyResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { kind: 'body', code, contentType: 'application/json', body: text, ...(headers && { headers }) };
}

export function textResponse(code: number, body: string): BodyResponse {
  return { kind: 'body', code, contentType: 'text/plain; charset=utf-8', body };
}

export function statusResponse(error: StatusError): BodyResponse {
  const retryAfter = error.details?.retryAfterSeconds;
  const headers: ResponseHeaders = {
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    ...(error.warnings.length > 0 && { warning: warningHeaders(error.warnings) }),
  };
  return jsonResponse(error.httpCode, error.toStatus(), headers);
}
