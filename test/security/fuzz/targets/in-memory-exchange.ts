import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Node's own request and response objects without a connection between them: what a handler gets, at the speed of a function call. */
export async function exchange(
  { method, url, headers, body }: Exchange,
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Answer> {
  const request = new IncomingMessage(new Socket());
  Object.assign(request, { method, url, headers: { ...headers, 'content-length': String(body.length) } });
  if (body.length > 0) request.push(body);
  request.push(null);
  const response = new ServerResponse(request);
  const chunks: Buffer[] = [];
  response.end = ((chunk?: string | Uint8Array) => {
    if (chunk !== undefined) chunks.push(Buffer.from(chunk as Uint8Array));
    return response;
  }) as typeof response.end;
  await handle(request, response);
  request.destroy();
  return { status: response.statusCode, body: Buffer.concat(chunks).toString('utf8') };
}
