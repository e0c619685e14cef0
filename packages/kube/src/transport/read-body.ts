import { errorText, type TransientError } from '@berth/runtime/errors';
import { networkError, type RequestSubject } from './kube-errors.ts';
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
