import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BearerTokens } from './bearer-tokens.ts';
import { type ParsedRequest, parsePluginRequest, type PluginRequest } from './plugin-request.ts';
import type { PluginPlacement, PluginSource } from './plugin-source.ts';
import { renderParameters } from './render-parameters.ts';
import { isBoundTo, type TokenGrant } from './token-grant.ts';

export const GETPARAMS_PATH = '/api/v1/getparams.execute';

const MAX_BODY_BYTES = 64 * 1024;

export interface PluginAnswer {
  readonly applicationSet: string;
  readonly status: number;
  readonly items: number;
  /** Name of the token, '' without a valid one. */
  readonly token: string;
}

export interface EndpointOptions {
  readonly source: PluginSource;
  readonly tokens: Pick<BearerTokens, 'identify'>;
  /** Called once per request, for metrics and the log. */
  readonly onAnswer?: (answer: PluginAnswer) => void;
}

interface Outcome {
  readonly status: number;
  readonly body: object;
  readonly items?: number;
}

const refuse = (status: number, message: string): Outcome => ({ status, body: { message } });

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
    const seen = { applicationSet: '', token: '' };
    const { status, body, items = 0 } = await this.#answer(request, seen);
    const text = JSON.stringify(body);
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      // What is left of a refused body is not read: the connection ends with the answer.
      ...(request.complete ? {} : { connection: 'close' }),
    });
    response.end(text);
    this.#options.onAnswer?.({ ...seen, status, items });
  }

  async #answer(request: IncomingMessage, seen: { applicationSet: string; token: string }): Promise<Outcome> {
    if (request.method !== 'POST') return refuse(405, 'use POST');
    const grant = this.#options.tokens.identify(request);
    if (grant === 'placeholder') return refuse(401, PLACEHOLDER_SENT);
    if (grant === undefined) return refuse(401, NOT_ACCEPTED);
    seen.token = grant.name;
    if (!grant.scopes.has('plugin')) return refuse(403, `token ${grant.name} lacks the scope plugin`);
    const body = await readBody(request);
    if (body === undefined) return refuse(413, `the body is larger than ${MAX_BODY_BYTES} bytes`);
    const parsed: ParsedRequest = parsePluginRequest(body);
    if (!parsed.ok) return refuse(400, parsed.message);
    seen.applicationSet = parsed.request.applicationSet;
    return this.#decide(parsed.request, grant);
  }

  #decide(request: PluginRequest, grant: TokenGrant): Outcome {
    const { source } = this.#options;
    const { placement: name, onEmpty, group } = request;
    const [namespace = ''] = name.split('/');
    // Before anything is looked up: the answer is the same whether the placement exists or not.
    if (!isBoundTo(grant.namespaces, namespace))
      return refuse(403, `token ${grant.name} may not read placements of namespace ${namespace}`);
    const problem = source.problem();
    if (problem !== undefined) return refuse(503, `Berth cannot answer yet: ${problem}`);
    const placement = source.placement(name);
    if (placement === undefined)
      return refuse(404, `nothing is published for placement ${name}: kubectl describe placement says why`);
    if (!staysInSets(placement, grant, source))
      return refuse(
        403,
        `placement ${name} selects clusters outside of the cluster sets of token ${grant.name}: let it select from these sets only, or bind the token to more`,
      );
    const parameters = renderParameters(request, placement, source);
    const emptyAllowed = (onEmpty ?? (placement.emptyAllowed ? 'allow' : 'error')) === 'allow';
    if (parameters.length === 0 && !emptyAllowed)
      return refuse(
        503,
        `placement ${name} selects no cluster${group === undefined ? '' : ` in group ${group}`}; an empty answer would delete every Application. Set onEmpty: allow if that is meant`,
      );
    return { status: 200, body: { output: { parameters } }, items: parameters.length };
  }
}

const NOT_ACCEPTED =
  'the bearer token is not accepted: compare the Secret in the plugin ConfigMap of Argo CD with the token file of berth serve';
const PLACEHOLDER_SENT =
  'the bearer token is the placeholder of the shipped manifest, which is never accepted: make one with openssl rand -hex 32';

/**
 * An answer without the clusters outside would be a decision that nobody made, and Argo CD would delete their Applications: a
 * placement is answered whole or not at all. All groups count, so that none of them can be asked for by itself.
 */
function staysInSets(
  { groups }: PluginPlacement,
  { clusterSets }: TokenGrant,
  source: PluginSource,
): boolean {
  if (clusterSets === 'any') return true;
  return groups.every(({ decisions }) =>
    decisions.every(({ clusterName }) => source.isInSets(clusterName, clusterSets)),
  );
}

/** Undefined when the body is too large; the rest of it is then not read. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  // A loop that is left would otherwise destroy the connection before the answer is sent.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
