import { Agent, request } from 'node:https';
import type { LooseJson } from '../../../packages/embedded-hub/test/loose-json.ts';

export interface ApiAnswer {
  readonly status: number;
  readonly body: LooseJson;
  readonly warnings: readonly string[];
}

export interface ApiClient {
  /** @param body JSON, or a text that is sent as it is */
  call(method: string, path: string, body?: unknown, contentType?: string): Promise<ApiAnswer>;
  close(): void;
}

export interface ApiAddress {
  /** `https://127.0.0.1:6443` */
  readonly url: string;
  readonly token: string;
  readonly caPem: string;
}

/**
 * Raw requests to an API server: tests compare the answers as they are.
 * @param user whom the requests impersonate
 */
export function apiClient({ url, token, caPem }: ApiAddress, user?: string): ApiClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 16, ca: caPem });
  return {
    call: (method, path, body, contentType = 'application/json') =>
      new Promise((resolve, reject) => {
        const text = typeof body === 'string' ? body : JSON.stringify(body);
        const bytes = body === undefined ? undefined : Buffer.from(text);
        const headers = {
          authorization: `Bearer ${token}`,
          ...(user !== undefined && { 'impersonate-user': user }),
          ...(bytes !== undefined && { 'content-type': contentType, 'content-length': bytes.length }),
        };
        const sent = request(`${url}${path}`, { method, agent, headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const warnings = [response.headers['warning'] ?? []].flat();
            const answer = Buffer.concat(chunks).toString();
            resolve({ status: response.statusCode ?? 0, body: parsed(answer), warnings });
          });
        });
        sent.on('error', reject);
        sent.end(bytes);
      }),
    close: () => agent.destroy(),
  };
}

/** `/readyz` answers with plain text. */
function parsed(text: string): LooseJson {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
