import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BearerTokens } from './bearer-tokens.ts';
import { parsePluginRequest } from './plugin-request.ts';
import type { PluginSource } from './plugin-source.ts';
import { renderParameters } from './render-parameters.ts';

export const GETPARAMS_PATH = '/api/v1/getparams.execute';

const MAX_BODY_BYTES = 64 * 1024;

export interface EndpointOptions {
  readonly source: PluginSource;
  readonly tokens: Pick<BearerTokens, 'accepts'>;
  /** Told once per request, for metrics. */
  readonly onAnswer?: (answer: {
    readonly applicationSet: string;
    readonly status: number;
    readonly items: number;
  }) => void;
}

/**
 * The endpoint of Argo CD's ApplicationSet plugin generator. Argo CD takes any 2xx with a body it does not understand as "no
 * clusters" and deletes every Application; it keeps them on any error. So everything that is not certainly right is an error.
 */
export class GetparamsEndpoint {
  readonly #options: EndpointOptions;

  constructor(options: EndpointOptions) {
    this.#options = options;
  }

  /** Answers a request whose path ends in GETPARAMS_PATH. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let applicationSet = '';
    const finish = (status: number, body: object, items = 0): void => {
      const text = JSON.stringify(body);
      response.writeHead(status, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
        'cache-control': 'no-store',
        ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      });
      response.end(text);
      this.#options.onAnswer?.({ applicationSet, status, items });
    };
    if (request.method !== 'POST') return finish(405, { message: 'use POST' });
    if (!this.#options.tokens.accepts(request.headers.authorization))
      return finish(401, {
        message:
          'the bearer token is not accepted: compare the Secret in the plugin ConfigMap of Argo CD with the token file of berth serve',
      });
    const body = await readBody(request);
    if (body === undefined)
      return finish(413, { message: `the body is larger than ${MAX_BODY_BYTES} bytes` });
    const parsed = parsePluginRequest(body);
    if (!parsed.ok) return finish(400, { message: parsed.message });
    applicationSet = parsed.request.applicationSet;
    const { source } = this.#options;
    const problem = source.problem();
    if (problem !== undefined) return finish(503, { message: `Berth cannot answer yet: ${problem}` });
    const { placement: name, onEmpty } = parsed.request;
    const placement = source.placement(name);
    if (placement === undefined)
      return finish(404, {
        message: `nothing is published for placement ${name}: kubectl describe placement tells why`,
      });
    const parameters = renderParameters(parsed.request, placement, source);
    const emptyAllowed = (onEmpty ?? (placement.emptyAllowed ? 'allow' : 'error')) === 'allow';
    if (parameters.length === 0 && !emptyAllowed)
      return finish(503, {
        message: `placement ${name} selects no cluster${parsed.request.group === undefined ? '' : ` in group ${parsed.request.group}`}; an empty answer would delete every Application. Set onEmpty: allow if that is meant`,
      });
    finish(200, { output: { parameters } }, parameters.length);
  }
}

/** Undefined when the body is too large; the rest of it is then not read. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
