import { StringDecoder } from 'node:string_decoder';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BerthError, errorText, type TransientError } from '@berth/runtime/errors';
import type { KubeObject } from '../model/object-meta.ts';
import type { WatchEvent } from '../model/kube-api.ts';
import { startAwakeTimeout } from './awake-timeout.ts';
import { parseKubeStatus, errorForStatus, networkError, type RequestSubject } from './kube-errors.ts';
import type { KubeResponse } from './kube-transport.ts';

/** Larger than any page of a list that Berth requests. Protects against a server that never stops sending. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

/** The whole body as text. A truncated response is an error, and so is a pause of `idleTimeoutMs`. */
export function readBody(
  { body, isWhole }: KubeResponse,
  request: RequestSubject,
  idleTimeoutMs: number,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    const settle = (finish: () => void): void => {
      clearTimeout(idle);
      finish();
    };
    const fail = (error: TransientError): void =>
      settle(() => {
        reject(error);
        body.destroy();
      });
    const idle = setTimeout(
      () => fail(networkError(`no part of the response arrived for ${idleTimeoutMs} ms`, request)),
      idleTimeoutMs,
    );
    body.on('data', (chunk: Buffer) => {
      idle.refresh();
      sizeBytes += chunk.length;
      if (sizeBytes > MAX_BODY_BYTES)
        fail(networkError(`the response is larger than ${MAX_BODY_BYTES} bytes`, request));
      else chunks.push(chunk);
    });
    body.once('end', () => {
      if (!isWhole()) fail(networkError('the response was truncated', request));
      else settle(() => resolve(textOf(chunks)));
    });
    body.once('error', (error) =>
      fail(networkError(`the response was truncated: ${errorText(error)}`, request, error)),
    );
    body.once('close', () => {
      if (!body.readableEnded) fail(networkError('the response was truncated', request));
    });
    // It was truncated before the listeners were added.
    if (body.destroyed && !body.readableEnded) fail(networkError('the response was truncated', request));
  });
}

function textOf(chunks: readonly Buffer[]): string {
  const [only] = chunks;
  return (chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)).toString('utf8');
}

/**
 * Parses a JSON body. A body that is not JSON comes from the network (the page of a proxy, a truncated response), so it
 * is worth a retry.
 */
export function parseJsonBody(
  text: string,
  request: RequestSubject,
  parse: (text: string) => unknown = JSON.parse,
): unknown {
  try {
    return parse(text);
  } catch (cause) {
    throw networkError(`the response is not JSON: ${JSON.stringify(text.slice(0, 80))}`, request, cause);
  }
}

/** An object of the API has at most a few MiB. A longer line is not a watch event. */
const MAX_LINE_CHARS = 16 * 1024 * 1024;
/**
 * How long one event may take to arrive, from its first byte. Servers send a bookmark about every 60 s, so nothing more
 * comes over a connection that is stuck in an event. Bytes are no progress: only whole events are.
 */
const EVENT_LIMIT_MS = 60_000;

/** The events of a watch response, one JSON document in each line. Ends when the server ends it, or the signal aborts. */
export async function* readWatchEvents(
  response: KubeResponse,
  request: RequestSubject,
  { signal, parse }: { readonly signal: AbortSignal; readonly parse: (text: string) => unknown },
): AsyncGenerator<WatchEvent> {
  for await (const line of readLines(response, request, signal)) {
    if (line.trim() !== '') yield watchEventOf(parseJsonBody(line, request, parse), line, request);
  }
}

async function* readLines(
  response: KubeResponse,
  request: RequestSubject,
  signal: AbortSignal,
): AsyncGenerator<string> {
  // Several times as fast as a TextDecoder, and its strings need half of the memory.
  const decoder = new StringDecoder('utf8');
  let pending = '';
  let endLimit = (): void => undefined;
  const onStall = (): void =>
    void response.body.destroy(
      networkError(`an event did not arrive completely within ${EVENT_LIMIT_MS} ms`, request),
    );
  try {
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      // Responses that arrived at the same time are processed first, because callers wait for them before they send the
      // next request.
      await nextTurn();
      let searchFrom = pending.length;
      pending += decoder.write(chunk);
      let end = pending.indexOf('\n', searchFrom);
      const isNewLine = searchFrom === 0 || end !== -1;
      if (isNewLine) endLimit();
      while (end !== -1) {
        yield pending.slice(0, end);
        pending = pending.slice(end + 1);
        searchFrom = 0;
        end = pending.indexOf('\n', searchFrom);
      }
      if (isNewLine && pending !== '') endLimit = startAwakeTimeout(EVENT_LIMIT_MS, onStall, false);
      if (pending.length > MAX_LINE_CHARS)
        throw networkError(`a watch event is longer than ${MAX_LINE_CHARS} characters`, request);
    }
  } catch (error) {
    if (signal.aborted) return;
    throw error instanceof BerthError
      ? error
      : networkError(`the watch was interrupted: ${errorText(error)}`, request, error);
  } finally {
    endLimit();
    response.body.destroy();
  }
  if (signal.aborted) return;
  if (pending.trim() !== '')
    throw networkError('the watch was interrupted in the middle of an event', request);
  if (!response.isWhole()) throw networkError('the watch was interrupted', request);
}

function watchEventOf(parsed: unknown, line: string, request: RequestSubject): WatchEvent {
  const raw = parsed as { type?: unknown; object?: unknown } | null;
  const object = raw?.object as KubeObject | undefined;
  switch (raw?.type) {
    case 'ADDED':
      return { type: 'added', object: requireObject(object, request) };
    case 'MODIFIED':
      return { type: 'modified', object: requireObject(object, request) };
    case 'DELETED':
      return { type: 'deleted', object: requireObject(object, request) };
    case 'BOOKMARK':
      return { type: 'bookmark', resourceVersion: object?.metadata?.resourceVersion ?? '' };
    case 'ERROR': {
      const status = parseKubeStatus(object);
      throw errorForStatus(status?.code ?? 500, status, request);
    }
    default:
      throw networkError(`unknown watch event ${JSON.stringify(line.slice(0, 80))}`, request);
  }
}

function requireObject(object: KubeObject | undefined, request: RequestSubject): KubeObject {
  if (typeof object?.metadata?.name === 'string' && typeof object.metadata.resourceVersion === 'string')
    return object;
  throw networkError('a watch event has no metadata.name or no metadata.resourceVersion', request);
}
