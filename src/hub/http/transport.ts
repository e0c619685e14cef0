import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGzip, gzip } from 'node:zlib';
import { promisify } from 'node:util';
import { badRequest, entityTooLarge } from '../status/status-errors.ts';
import type { Answer, AnswerHeaders, BodyAnswer, ChunkedAnswer, StreamAnswer } from './answer.ts';
import { acceptsGzip } from './negotiate.ts';

export type HubRequest = IncomingMessage | Http2ServerRequest;
export type HubResponse = ServerResponse | Http2ServerResponse;

/** Like the real API server: 3 MiB of request body. */
export const BODY_LIMIT_BYTES = 3 * 1024 * 1024;
const GZIP_FROM_BYTES = 128 * 1024;
const gzipAsync = promisify(gzip);

/** @throws StatusError 413 (the rest of the body is not read) or 400 when the client went away */
export function readBody(request: HubRequest, limitBytes = BODY_LIMIT_BYTES): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limitBytes) {
        request.removeAllListeners('data');
        request.resume();
        reject(entityTooLarge(limitBytes));
      } else chunks.push(chunk);
    });
    request.on('end', () =>
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)),
    );
    request.on('aborted', () => reject(badRequest('the request was cut off')));
    request.on('error', () => reject(badRequest('the request was cut off')));
  });
}

export function headerOf(request: HubRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
}

/** Writes the answer; resolves when everything is handed to the socket (streams: when they have begun). */
export async function sendAnswer(request: HubRequest, response: HubResponse, answer: Answer): Promise<void> {
  if (response.destroyed) return;
  switch (answer.kind) {
    case 'body':
      return sendBody(request, response, answer);
    case 'chunks':
      return sendChunks(request, response, answer);
    case 'stream':
      return startStream(response, answer);
    case 'forwarded':
      return;
  }
}

async function sendBody(request: HubRequest, response: HubResponse, answer: BodyAnswer): Promise<void> {
  let body: Buffer | string = answer.body;
  if (body.length >= GZIP_FROM_BYTES && acceptsGzip(headerOf(request, 'accept-encoding'))) {
    body = await gzipAsync(body);
    response.setHeader('content-encoding', 'gzip');
  }
  response.setHeader('content-length', Buffer.byteLength(body));
  writeHead(response, answer.code, answer.contentType, answer.headers);
  if (answer.body.length >= GZIP_FROM_BYTES) response.setHeader('vary', 'Accept, Accept-Encoding');
  if (request.method === 'HEAD') response.end();
  else response.end(body);
}

async function sendChunks(request: HubRequest, response: HubResponse, answer: ChunkedAnswer): Promise<void> {
  writeHead(response, answer.code, answer.contentType);
  let sink: NodeJS.WritableStream = response as NodeJS.WritableStream;
  if (acceptsGzip(headerOf(request, 'accept-encoding'))) {
    response.setHeader('content-encoding', 'gzip');
    response.setHeader('vary', 'Accept-Encoding');
    const zip = createGzip({ level: 1 });
    zip.pipe(sink);
    sink = zip;
  }
  for (const chunk of answer.chunks) {
    if (response.destroyed) return;
    // As bytes: a text would be encoded twice, for its length and for its content.
    if (sink.write(Buffer.from(chunk))) await nextTurn();
    else await drained(sink, response);
  }
  sink.end();
}

function drained(sink: NodeJS.WritableStream, response: HubResponse): Promise<void> {
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

function startStream(response: HubResponse, answer: StreamAnswer): void {
  writeHead(response, 200, answer.contentType, answer.headers);
  // Clients wait for the headers of a watch before they do anything else.
  response.writeHead(200);
  if ('flushHeaders' in response) response.flushHeaders();
  answer.run({
    write(text) {
      if (response.destroyed || response.writableEnded) return 0;
      (response as NodeJS.WritableStream).write(text);
      return pendingBytes(response);
    },
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

function writeHead(
  response: HubResponse,
  code: number,
  contentType: string,
  headers: AnswerHeaders = {},
): void {
  response.statusCode = code;
  response.setHeader('content-type', contentType);
  response.setHeader('cache-control', 'no-cache, private');
  for (const [name, value] of Object.entries(headers))
    response.setHeader(name, typeof value === 'string' ? value : [...value]);
}
