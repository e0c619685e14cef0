import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { JsonObject } from '../json/json-value.ts';
import type { StatusError } from './status-error.ts';

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

/**
 * Limits of all warnings of one response, and of each one if all together are too long. Source:
 * filters/warning.go of k8s.io/apiserver.
 */
const MAX_TOTAL_LENGTH = 4 * 1024;
const MAX_ITEM_LENGTH = 256;

/**
 * Values of `Warning` headers. When all texts together are too long, each is cut and those that then still do not fit are left out,
 * as upstream does: clients reject responses with headers of more than some kilobytes.
 */
export function warningHeaders(texts: readonly string[]): readonly string[] {
  const distinct = [...new Set(texts)];
  const length = distinct.reduce((sum, text) => sum + text.length, 0);
  if (length <= MAX_TOTAL_LENGTH) return distinct.map(warningHeader);
  const headers: string[] = [];
  let written = 0;
  for (const text of distinct) {
    if (written >= MAX_TOTAL_LENGTH) break;
    const kept = text.slice(0, MAX_ITEM_LENGTH);
    written += kept.length;
    headers.push(warningHeader(kept));
  }
  return headers;
}

/** RFC 7234 warn-text: quotes and backslashes escaped, control characters out. */
function warningHeader(text: string): string {
  const safe = text.replace(/[^ -~]/gu, ' ');
  return `299 - "${safe.replace(/[\\"]/g, '\\$&')}"`;
}

export type HubRequest = IncomingMessage | Http2ServerRequest;
export type HubResponse = ServerResponse | Http2ServerResponse;

export function headerOf(request: HubRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
}

/** Whether the client is disconnected, which the compatibility classes of HTTP/2 do not report. */
export function isClientGone(response: HubResponse): boolean {
  return 'stream' in response ? response.stream.destroyed : response.destroyed;
}
