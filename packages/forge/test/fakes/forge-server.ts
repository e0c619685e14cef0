import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ForgeRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly authorization: string | undefined;
  readonly body: unknown;
}

export interface ForgeResponse {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** A forge's API on loopback: keeps each request and gives the answers that the test sets; `undefined` leaves the request hanging. */
export async function startForge(
  answer: (count: number, request: ForgeRequest) => ForgeResponse | Promise<ForgeResponse> | undefined,
) {
  const seen: ForgeRequest[] = [];
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const asked = {
        method: request.method,
        url: request.url,
        authorization: request.headers.authorization,
        body: text === '' ? undefined : (JSON.parse(text) as unknown),
      };
      seen.push(asked);
      void Promise.resolve(answer(seen.length, asked)).then((answered) => {
        if (answered === undefined) return;
        response
          .writeHead(answered.status, answered.headers)
          .end(answered.body === undefined ? '' : JSON.stringify(answered.body));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
