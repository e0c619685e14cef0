import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LooseJson } from '../../../packages/embedded-hub/test/loose-json.ts';

/** What the relay does with a request of Argo CD. */
export type RelayMood =
  /** Berth answers. */
  | 'pass'
  /** The connection ends without an answer. */
  | 'reset'
  /** The first half of Berth's answer arrives. */
  | 'cut'
  /** No answer arrives before Argo CD gives up. */
  | 'slow'
  /** Something that is not Berth answers. */
  | { readonly status: number; readonly body: string };

export interface RelayedExchange {
  readonly path: string;
  readonly authorization: string;
  readonly asked: LooseJson;
  /** 0: no answer. */
  readonly status: number;
  readonly answered: string;
}

/** An HTTP server between Argo CD and Berth, which notes what is asked and answered, and breaks it when the test asks for it. */
export class PluginRelay {
  mood: RelayMood = 'pass';
  /** Where Berth listens; '' while it does not. */
  target = '';
  readonly exchanges: RelayedExchange[] = [];
  readonly #server = http.createServer((request, response) => {
    void this.#relay(request, response).catch(() => response.destroy());
  });

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #relay(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const { mood } = this;
    const answer =
      typeof mood === 'object'
        ? mood
        : mood === 'slow' || mood === 'reset'
          ? undefined
          : await this.#ask(request, text);
    this.exchanges.push({
      path: request.url ?? '',
      authorization: request.headers.authorization ?? '',
      asked: JSON.parse(text),
      status: answer?.status ?? 0,
      answered: answer?.body ?? '',
    });
    if (mood === 'slow') return;
    if (answer === undefined) return void response.destroy();
    const bytes = Buffer.from(answer.body);
    response.writeHead(answer.status, { 'content-type': 'application/json', 'content-length': bytes.length });
    if (mood === 'cut') response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
    else response.end(bytes);
  }

  /** Undefined: Berth does not answer. */
  async #ask(
    request: http.IncomingMessage,
    body: string,
  ): Promise<{ readonly status: number; readonly body: string } | undefined> {
    if (this.target === '') return undefined;
    const headers = {
      'content-type': 'application/json',
      authorization: request.headers.authorization ?? '',
    };
    const response = await fetch(`${this.target}${request.url ?? ''}`, { method: 'POST', headers, body });
    return { status: response.status, body: await response.text() };
  }
}
