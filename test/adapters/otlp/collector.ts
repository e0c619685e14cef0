import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

interface Received {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    readonly resourceSpans: readonly {
      readonly resource: { readonly attributes: ReceivedSpan['attributes'] };
      readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[];
    }[];
  };
}

const ACCEPT = (response: ServerResponse): void => void response.end('{"partialSuccess":{}}');

/** A collector for traces by OTLP over HTTP, in this process. */
export class Collector {
  readonly received: Received[] = [];
  /** How it answers from now on. */
  answer: (response: ServerResponse) => void = ACCEPT;
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url: path, headers } = request;
      this.received.push({ path, headers, body: JSON.parse(Buffer.concat(chunks).toString()) as never });
      this.answer(response);
    });
  });

  static async start(): Promise<Collector> {
    const collector = new Collector();
    await new Promise<void>((resolve) => collector.#server.listen(0, '127.0.0.1', resolve));
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get spans(): readonly ReceivedSpan[] {
    return this.received.flatMap(({ body }) =>
      body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    );
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
