import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MonotonicClock } from '@berth/runtime/clock/clock';
import { ResponseCache } from './response/response-cache.ts';
import { type GetparamsResponse, refuse } from './response/compute-response.ts';
import { parsePluginRequest } from './response/plugin-request.ts';
import type { PluginSource } from './response/plugin-source.ts';
import { GETPARAMS_PATH } from './getparams-path.ts';
import type { BearerTokens, TokenIdentity } from './tokens/bearer-tokens.ts';
import { parsePathBinding } from './tokens/path-binding.ts';
import type { TokenGrant } from './tokens/token-grant.ts';

const MAX_BODY_BYTES = 64 * 1024;

/** One request and its response, for metrics and the log. */
export interface ServedRequest {
  readonly applicationSet: string;
  readonly status: number;
  /** Number of clusters in the response. */
  readonly items: number;
  /** The name of the token; '' without a valid one. */
  readonly token: string;
  readonly tookMs: number;
}

export interface EndpointOptions {
  readonly source: PluginSource;
  readonly tokens: Pick<BearerTokens, 'identify'>;
  readonly clock: Pick<MonotonicClock, 'monotonicMs'>;
  /** Called once per request, after its response was written. */
  readonly onResponse?: (request: ServedRequest) => void;
}

/** The caller as far as known, also for refused requests. */
type Caller = Pick<ServedRequest, 'applicationSet' | 'token'>;

/**
 * The HTTP endpoint of Argo CD's ApplicationSet plugin generator: authenticates and parses
 * requests, and writes responses. `response/compute-response.ts` computes the responses.
 */
export class GetparamsEndpoint {
  readonly #options: EndpointOptions;
  readonly #responses: ResponseCache;

  constructor(options: EndpointOptions) {
    this.#options = options;
    this.#responses = new ResponseCache(options.source);
  }

  /** Responds to a request whose path ends in GETPARAMS_PATH. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { clock, onResponse } = this.#options;
    const startMs = clock.monotonicMs();
    const [caller, result] = await this.#respond(request);
    response.writeHead(result.status, {
      'content-type': 'application/json',
      'content-length': result.body.length,
      'cache-control': 'no-store',
      ...(result.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      // The rest of a refused body is not read: the connection is closed after the response.
      ...(request.complete ? {} : { connection: 'close' }),
    });
    response.end(result.body);
    const { status, items } = result;
    onResponse?.({ ...caller, status, items, tookMs: clock.monotonicMs() - startMs });
  }

  async #respond(request: IncomingMessage): Promise<readonly [Caller, GetparamsResponse]> {
    const unknownCaller = { applicationSet: '', token: '' };
    if (request.method !== 'POST') return [unknownCaller, refuse(405, 'use POST')];
    const grant = this.#options.tokens.identify(request);
    if (!isGrant(grant)) return [unknownCaller, refuseIdentity(grant)];
    const caller = { applicationSet: '', token: grant.name };
    if (!grant.scopes.has('plugin'))
      return [caller, refuse(403, `token ${grant.name} lacks the scope plugin`)];
    const path = parsePathBinding(baseUrlPath(request.url ?? ''));
    if (!path.ok) return [caller, refuse(404, path.message)];
    const body = await readBody(request);
    if (body === undefined) return [caller, refuse(413, `the body is larger than ${MAX_BODY_BYTES} bytes`)];
    const parsed = parsePluginRequest(body, singleName(path.binding.namespaces));
    if (!parsed.ok) return [caller, refuse(400, parsed.message)];
    const bindings = [
      { ...grant, who: `token ${grant.name}` },
      { ...path.binding, who: 'the path of baseUrl' },
    ];
    const result = this.#responses.respond({ request: parsed.request, bindings });
    return [{ ...caller, applicationSet: parsed.request.applicationSet }, result];
  }
}

function isGrant(identity: TokenIdentity): identity is TokenGrant {
  return identity !== undefined && identity !== 'placeholder';
}

function refuseIdentity(identity: 'placeholder' | undefined): GetparamsResponse {
  return refuse(
    401,
    identity === 'placeholder'
      ? 'the bearer token is the placeholder of the shipped manifest, which is never accepted: create one with openssl rand -hex 32'
      : 'the bearer token is not accepted: compare the Secret in the plugin ConfigMap of Argo CD with the token file of berth serve',
  );
}

/** The path of the `baseUrl` in Argo CD: what precedes GETPARAMS_PATH. */
function baseUrlPath(url: string): string {
  const [path = ''] = url.split('?');
  return path.slice(0, -GETPARAMS_PATH.length);
}

/** The namespace, if the path of `baseUrl` names exactly one. */
function singleName(names: TokenGrant['namespaces']): string | undefined {
  return names !== 'any' && names.size === 1 ? [...names][0] : undefined;
}

/** Returns undefined if the body is larger than MAX_BODY_BYTES. It then leaves the rest unread. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  // Without this, leaving the loop would destroy the connection before the response is sent.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
