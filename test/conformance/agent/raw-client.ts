import { systemClock } from '@berth/runtime/clock/system-clock';
import type { KubeConfig } from '@berth/kube/config/kube-config';
import { KubeConnection } from '../../../packages/kube/src/transport/kube-connection.ts';
import { readBody } from '../../../packages/kube/src/transport/response-body.ts';
import type { Json } from './recorded.ts';

export interface RawAnswer {
  readonly status: number;
  readonly body: Json;
}

/** Any request to the API server, with the answer as it came: refusals are part of the recording. */
export class RawClient {
  readonly #connection: KubeConnection;

  constructor(config: KubeConfig) {
    this.#connection = new KubeConnection({
      config,
      clock: systemClock,
      requestTimeoutMs: 30_000,
      userAgent: 'recorder',
      impersonate: undefined,
    });
  }

  get server(): string {
    return this.#connection.server;
  }

  async send(
    method: string,
    path: string,
    more: { readonly query?: string; readonly body?: unknown; readonly contentType?: string } = {},
  ): Promise<RawAnswer> {
    const request = {
      method,
      path,
      query: more.query,
      contentType: more.contentType,
      body: more.body === undefined ? undefined : JSON.stringify(more.body),
    };
    const response = await this.#connection.open(request);
    const text = await readBody(response, request, 30_000);
    return { status: response.statusCode, body: text === '' ? {} : (JSON.parse(text) as Json) };
  }

  /** Undefined: it does not exist. */
  async get(path: string): Promise<Json | undefined> {
    const { status, body } = await this.send('GET', path);
    if (status === 404) return undefined;
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  close(): void {
    this.#connection.close();
  }
}
