import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MonotonicClock } from '@berth/runtime/clock/clock';
import type { WaveReading } from '../src/core/argocd/waves/served-waves.ts';
import {
  type BoundRequest,
  computeResponse,
  type GetparamsResponse,
  readWaves,
  refuse,
} from './response/compute-response.ts';
import { parsePluginRequest } from './response/plugin-request.ts';
import type { PluginPlacement, PluginSource } from './response/plugin-source.ts';
import type { BearerTokens, TokenIdentity } from './tokens/bearer-tokens.ts';
import type { Binding, TokenGrant } from './tokens/token-grant.ts';

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

/** A cached response and the inputs it was computed from. */
interface CachedResponse {
  readonly response: GetparamsResponse;
  readonly placement: PluginPlacement;
  readonly waves: WaveReading | undefined;
  readonly revision: number;
}

/** Enough for 64 responses with 1,000 clusters each. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Caches the bytes of responses, because Argo CD sends the same request at every reconcile of an
 * ApplicationSet. A cached response is used only while all of its inputs are the same. Refusals are
 * not cached.
 */
export class ResponseCache {
  readonly #source: PluginSource;
  /** The most recently used response is last. */
  readonly #cached = new Map<string, CachedResponse>();
  #bytes = 0;

  constructor(source: PluginSource) {
    this.#source = source;
  }

  respond(request: BoundRequest): GetparamsResponse {
    const key = keyOf(request);
    const cached = this.#cached.get(key);
    if (cached !== undefined) this.#remove(key, cached);
    const placement = this.#source.placement(request.request.placement);
    const waves = readWaves(request.request, this.#source);
    const revision = this.#source.revision();
    const isUsable = cached !== undefined && this.#source.problem() === undefined;
    if (
      isUsable &&
      cached.revision === revision &&
      isSamePlacement(cached.placement, placement) &&
      areSameWaves(cached.waves, waves)
    ) {
      this.#add(key, cached);
      return cached.response;
    }
    const response = computeResponse(request, this.#source);
    if (response.status === 200 && placement !== undefined)
      this.#add(key, { response, placement, waves, revision });
    return response;
  }

  #add(key: string, cached: CachedResponse): void {
    this.#cached.set(key, cached);
    this.#bytes += cached.response.body.length;
    for (const [oldest, entry] of this.#cached) {
      if (this.#bytes <= MAX_BYTES) return;
      this.#remove(oldest, entry);
    }
  }

  #remove(key: string, { response }: CachedResponse): void {
    this.#cached.delete(key);
    this.#bytes -= response.body.length;
  }
}

/**
 * Identifies requests with the same response: the parameters and what the caller may read, but not
 * who the caller is. The ApplicationSet is part of it only with waves, because each has its own.
 */
function keyOf({ request: { applicationSet, ...rest }, bindings }: BoundRequest): string {
  const parameters = rest.waves === undefined ? rest : { ...rest, applicationSet };
  const readable = bindings.map(({ namespaces, clusterSets }) => [namespaces, clusterSets]);
  return JSON.stringify([parameters, readable], (_key, value: unknown) =>
    value instanceof Set ? [...value].sort() : value,
  );
}

function areSameWaves(cached: WaveReading | undefined, now: WaveReading | undefined): boolean {
  return cached === now || (cached?.ok === true && now?.ok === true && cached.served === now.served);
}

function isSamePlacement(cached: PluginPlacement, now: PluginPlacement | undefined): boolean {
  return (
    now !== undefined &&
    cached.groups === now.groups &&
    cached.commit === now.commit &&
    cached.emptyAllowed === now.emptyAllowed
  );
}

type ParsedPath =
  | { readonly ok: true; readonly binding: Binding }
  | { readonly ok: false; readonly message: string };

/** Valid names in Kubernetes. */
const NAME = /^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/;
/**
 * Common misspellings of `namespaces` and `clustersets`: ignoring them would leave the path
 * unrestricted.
 */
const MISSPELT = /^(name-?spaces?|cluster-?sets?)$/i;

/**
 * The restriction of a request by the path of its `baseUrl`, in addition to its token:
 * `/namespaces/team-a,team-b` and `/clustersets/gpu`, each once, in any order. Other parts of the
 * path (of a proxy) are ignored.
 * @param path before `/api/v1/getparams.execute`
 */
function parsePathBinding(path: string): ParsedPath {
  const parts = path.split('/');
  const bound = new Map<string, ReadonlySet<string>>();
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] ?? '';
    if (!MISSPELT.test(part)) continue;
    if (part !== 'namespaces' && part !== 'clustersets')
      return refusedPath(`the path of baseUrl has ${part}, expected namespaces or clustersets`);
    const names = (parts[at + 1] ?? '').split(',');
    const wrong = names.find((name) => !NAME.test(name));
    if (wrong !== undefined)
      return refusedPath(
        `the path of baseUrl has ${JSON.stringify(wrong)} after ${part}, expected names separated by commas`,
      );
    if (bound.has(part)) return refusedPath(`the path of baseUrl has ${part} twice, expected it once`);
    bound.set(part, new Set(names));
    at += 1;
  }
  return {
    ok: true,
    binding: {
      namespaces: bound.get('namespaces') ?? 'any',
      clusterSets: bound.get('clustersets') ?? 'any',
    },
  };
}

function refusedPath(message: string): ParsedPath {
  return { ok: false, message };
}

/** The path that Argo CD appends to the baseUrl of a plugin. */
export const GETPARAMS_PATH = '/api/v1/getparams.execute';
