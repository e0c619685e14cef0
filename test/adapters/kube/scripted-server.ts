import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { HttpKubeApi, type HttpKubeApiOptions } from '../../../src/adapters/kube/http-kube-api.ts';
import { loadKubeConfig } from '../../../src/adapters/kube/load-kube-config.ts';
import { systemClock } from '../../../src/adapters/clock/system-clock.ts';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

export type Answer = (request: SeenRequest, response: http.ServerResponse) => void;

/** A server that answers as a test says, and a real client of it. */
export async function startScripted(
  answer: Answer,
  options: Partial<HttpKubeApiOptions> = {},
): Promise<{ api: HttpKubeApi; seen: SeenRequest[]; close: () => Promise<void> }> {
  const seen: SeenRequest[] = [];
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const entry = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') };
      seen.push(entry);
      answer(entry, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const config = loadKubeConfig({ text: kubeconfigText(`http://127.0.0.1:${port}/prefix`) });
  const api = new HttpKubeApi({ config, clock: systemClock, requestTimeoutMs: 400, ...options });
  return {
    api,
    seen,
    close: async () => {
      api.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function kubeconfigText(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    clusters: [{ name: 'test', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'test', user: { token: 'secret-token' } }],
  });
}

export function sendJson(
  response: http.ServerResponse,
  status: number,
  body: unknown,
  headers: http.OutgoingHttpHeaders = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
