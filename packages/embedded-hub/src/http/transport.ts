import type { OutgoingHttpHeaders } from 'node:http';
import { createGzip, gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { Exchange } from '../flow/exchange.ts';
import {
  type ApiResponse,
  type ResponseHeaders,
  type BodyResponse,
  type ChunkedResponse,
  type StreamResponse,
  type HubRequest,
  type HubResponse,
  headerOf,
  isClientGone,
} from '../wire/api-response.ts';
import { acceptsGzip } from '../wire/negotiate.ts';

const GZIP_FROM_BYTES = 128 * 1024;
const gzipAsync = promisify(gzip);

/** Writes the response; resolves when everything is handed to the socket (streams: when they have begun). */
export async function sendResponse(
  request: HubRequest,
  response: HubResponse,
  result: ApiResponse,
  exchange: Exchange,
): Promise<void> {
  if (isClientGone(response)) return;
  switch (result.kind) {
    case 'body':
      return sendBody(request, response, result);
    case 'chunks':
      return sendChunks(request, response, result, exchange);
    case 'stream':
      return startStream(response, result, exchange);
    case 'forwarded':
      return;
  }
}

async function sendBody(request: HubRequest, response: HubResponse, result: BodyResponse): Promise<void> {
  let body: Buffer | string = result.body;
  const more: OutgoingHttpHeaders = {};
  if (body.length >= GZIP_FROM_BYTES) {
    more['vary'] = 'Accept, Accept-Encoding';
    if (acceptsGzip(headerOf(request, 'accept-encoding'))) {
      body = await gzipAsync(body);
      more['content-encoding'] = 'gzip';
    }
  }
  more['content-length'] = Buffer.byteLength(body);
  writeHead(response, result, more);
  if (request.method === 'HEAD') response.end();
  else response.end(body);
}

async function sendChunks(
  request: HubRequest,
  response: HubResponse,
  result: ChunkedResponse,
  exchange: Exchange,
): Promise<void> {
  let sink: NodeJS.WritableStream = response as NodeJS.WritableStream;
  const isZipped = acceptsGzip(headerOf(request, 'accept-encoding'));
  writeHead(response, result, isZipped ? { 'content-encoding': 'gzip', vary: 'Accept-Encoding' } : {});
  if (isZipped) {
    const zip = createGzip({ level: 1 });
    // The compressor must be destroyed when the client disconnects.
    response.once('close', () => zip.destroy());
    zip.pipe(sink);
    sink = zip;
  }
  for (const chunk of result.chunks) {
    if (isClientGone(response)) return;
    // As bytes, because a text would be encoded twice, for its length and for its content.
    if (!sink.write(Buffer.from(chunk))) await drained(sink, response);
    await exchange.nextPart();
  }
  sink.end();
}

/** Resolves when the sink is drained, or when the client disconnects. */
function drained(sink: NodeJS.WritableStream, response: HubResponse): Promise<void> {
  if (isClientGone(response)) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      sink.removeListener('drain', done);
      response.removeListener('close', done);
      resolve();
    };
    sink.once('drain', done);
    response.once('close', done);
  });
}

function startStream(response: HubResponse, result: StreamResponse, exchange: Exchange): void {
  writeHead(response, { code: 200, contentType: result.contentType, headers: result.headers });
  // Clients wait for the headers of a watch before they do anything else.
  if ('flushHeaders' in response) response.flushHeaders();
  const unread = (): number => pendingBytes(response);
  result.run({
    write(text) {
      if (isClientGone(response) || response.writableEnded) return 0;
      (response as NodeJS.WritableStream).write(text);
      const bytes = unread();
      if (!exchange.updateUnread(bytes, unread)) response.destroy();
      return bytes;
    },
    drained: () => drained(response as NodeJS.WritableStream, response),
    end: () => {
      if (!response.writableEnded) response.end();
    },
    destroy: () => {
      response.destroy();
    },
    onClose: (callback) => {
      response.once('close', callback);
    },
  });
}

function pendingBytes(response: HubResponse): number {
  if ('stream' in response) return response.stream.destroyed ? 0 : response.stream.writableLength;
  return response.writableLength + (response.socket?.writableLength ?? 0);
}

interface Head {
  readonly code: number;
  readonly contentType: string;
  readonly headers?: ResponseHeaders | undefined;
}

/** All headers at once: setting one after the other takes three times as long. */
function writeHead(response: HubResponse, { code, contentType, headers }: Head, more = {}): void {
  const all = { 'content-type': contentType, 'cache-control': 'no-cache, private', ...headers, ...more };
  response.writeHead(code, all as OutgoingHttpHeaders);
}
