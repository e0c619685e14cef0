import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';

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
