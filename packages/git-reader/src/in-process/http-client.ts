import http from 'node:http';
import https from 'node:https';
import type { GitHttpRequest, GitHttpResponse, HttpClient } from 'isomorphic-git';
import { InputError, TransientError } from '@berth/runtime/errors';

export interface GitHttpOptions {
  /** URL of the repository. Requests to other URLs are refused, so that the header is sent to no other server. */
  readonly url: string;
  /** Value of the `Authorization` header. */
  readonly authorization?: string | undefined;
  /** PEM of the certificate authority to trust instead of the system's. */
  readonly ca?: string | undefined;
  readonly signal: AbortSignal;
  /** Limit on the bytes of one response. */
  readonly maxBytes: number;
}

/**
 * An HTTP client for isomorphic-git that can be aborted, limits the size of responses, and does not follow redirects.
 * @returns a client whose requests throw TransientError `git.failed`, InputError `git.transport` or `git.too-large`
 */
export function gitHttpClient(options: GitHttpOptions): HttpClient {
  return {
    async request({ url, method = 'GET', headers = {}, body }: GitHttpRequest): Promise<GitHttpResponse> {
      if (!url.startsWith(`${options.url.replace(/\/+$/, '')}/`))
        throw new InputError('a request to a URL outside of the repository was refused', {
          code: 'git.transport',
          subject: `Git repository ${options.url}`,
        });
      const payload = body === undefined ? undefined : Buffer.concat(await collect(body));
      const response = await send(url, { method, headers, payload }, options);
      const head = {
        url,
        method,
        statusCode: response.statusCode ?? 0,
        statusMessage: response.statusMessage ?? '',
        headers: Object.fromEntries(
          Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
        ),
      };
      return { ...head, body: limitBytes(response, options) };
    },
  };
}

function send(
  url: string,
  request: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly payload: Buffer | undefined;
  },
  { authorization, ca, signal }: GitHttpOptions,
): Promise<http.IncomingMessage> {
  const { request: startRequest } = url.startsWith('https:') ? https : http;
  return new Promise((resolve, reject) => {
    const outgoing = startRequest(url, {
      method: request.method,
      headers: { ...request.headers, ...(authorization === undefined ? {} : { authorization }) },
      signal,
      ...(ca === undefined ? {} : { ca }),
    });
    outgoing.on('response', resolve);
    outgoing.on('error', (cause) =>
      reject(
        new TransientError(`cannot be reached: ${cause.message}`, {
          code: 'git.failed',
          subject: url,
          cause,
        }),
      ),
    );
    outgoing.end(request.payload);
  });
}

async function* limitBytes(response: http.IncomingMessage, { maxBytes, url }: GitHttpOptions) {
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new InputError(`the remote sent more than ${maxBytes} bytes`, {
        code: 'git.too-large',
        subject: `Git repository ${url}`,
      });
    yield new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }
}

async function collect(body: AsyncIterableIterator<Uint8Array> | Uint8Array[]): Promise<Uint8Array[]> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return parts;
}
