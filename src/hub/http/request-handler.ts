import { BerthError, errorText } from '../../core/errors.ts';
import type { Clock, Logger } from '../../core/ports.ts';
import type { AuditLog } from '../auth/audit-log.ts';
import { authenticate } from '../auth/authenticate.ts';
import { impersonate } from '../auth/impersonate.ts';
import { answerReview, reviewBody } from '../auth/access-review.ts';
import { answerTokenRequest } from '../auth/token-request.ts';
import type { ApiCluster } from '../members/api-cluster.ts';
import { handleResource, resolveResource } from '../rest/handle-resource.ts';
import { decodeWithinBudget } from '../rest/request-body.ts';
import type { RequestContext, ResourceContext } from '../rest/request-context.ts';
import { StatusError } from '../status/status-error.ts';
import {
  badRequest,
  internalError,
  methodNotAllowed,
  noSuchResource,
  tooManyRequests,
  unauthorized,
} from '../status/status-errors.ts';
import type { UserInfo } from '../write/write-request.ts';
import { requireAccess } from './access.ts';
import type { Answer } from './answer.ts';
import { jsonAnswer, statusAnswer } from './answer.ts';
import { answerPublicPath } from './fixed-paths.ts';
import type { HubMetrics } from './hub-metrics.ts';
import type { RequestInfo } from './request-info.ts';
import { parseRequestInfo } from './request-info.ts';
import type { HubRequest, HubResponse } from './transport.ts';
import { headerOf, readBody, sendAnswer } from './transport.ts';

/** Requests under way, watches not counted; more are told to come back. */
const IN_FLIGHT_LIMIT = 800;
const CLUSTER_PREFIX = /^\/clusters\/([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)(?=\/|$)/;

export interface HandlerOptions {
  /** The hub itself under '', members under their names. */
  readonly clusters: ReadonlyMap<string, ApiCluster>;
  readonly serverAddress: () => string;
  readonly audit: AuditLog;
  readonly metrics: HubMetrics;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Located {
  readonly cluster: ApiCluster;
  readonly pathPrefix: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly info: RequestInfo;
}

/** How far a request came, for the metrics and the audit log. */
interface Progress {
  info?: RequestInfo;
  user?: UserInfo;
  cluster?: string;
  allowed?: boolean;
}

/** One request from its first byte to its answer: where, who, may they, do it; every refusal is a Status. */
export class RequestHandler {
  readonly #options: HandlerOptions;
  #inFlight = 0;

  constructor(options: HandlerOptions) {
    this.#options = options;
  }

  handle(request: HubRequest, response: HubResponse): void {
    // A client that goes away in the middle is no fault of ours, and nobody is left to tell.
    response.on('error', () => undefined);
    void this.#handle(request, response).catch((error: unknown) => {
      this.#options.log.error('could not answer', { error: errorText(error) });
      response.destroy();
    });
  }

  async #handle(request: HubRequest, response: HubResponse): Promise<void> {
    const startedMs = this.#options.clock.now();
    const record: Progress = {};
    this.#inFlight += 1;
    let answer: Answer;
    try {
      if (this.#inFlight > IN_FLIGHT_LIMIT) throw tooManyRequests(1);
      answer = await this.#answer(request, response, record);
    } catch (error) {
      answer = statusAnswer(this.#refusal(error, request));
    }
    this.#inFlight -= 1;
    const code = answer.kind === 'stream' ? 200 : answer.code;
    const finished = { code, startedMs, durationMs: this.#options.clock.now() - startedMs };
    this.#options.metrics.observe(record.info, { ...finished, allowed: record.allowed === true });
    this.#options.audit.record(request, record, finished);
    await sendAnswer(request, response, answer);
  }

  #refusal(error: unknown, request: HubRequest): StatusError {
    if (error instanceof StatusError) return error;
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#options.log.error('request failed', { method: request.method, url: request.url, error: detail });
    return internalError(
      error instanceof BerthError ? error.message : 'the hub could not handle the request',
    );
  }

  async #answer(request: HubRequest, response: HubResponse, record: Progress): Promise<Answer> {
    const located = this.#locate(request);
    const { cluster, info, query, path } = located;
    record.info = info;
    record.cluster = cluster.name;
    const open = answerPublicPath(info.method, path, query);
    if (open !== undefined) return open;
    const caller = await authenticate(request, cluster.credentials);
    if (caller === 'anonymous' || caller === 'invalid') throw unauthorized();
    record.user = caller;
    const user = impersonate(request, caller, cluster.authorizer);
    record.user = user;
    requireAccess(cluster.authorizer, user, info, query);
    record.allowed = true;
    const forwarded = await cluster.aggregator.forward({ request, response }, path, user);
    if (forwarded !== undefined) return forwarded;
    const context: RequestContext = {
      cluster,
      user,
      query,
      accept: headerOf(request, 'accept'),
      contentType: headerOf(request, 'content-type') ?? '',
      userAgent: headerOf(request, 'user-agent') ?? '',
      body: () => requestBody(request),
    };
    if (info.kind === 'resource') return this.#answerResource({ ...context, info }, cluster);
    return this.#answerPath(request, located);
  }

  #locate(request: HubRequest): Located {
    const url = request.url ?? '/';
    const mark = url.indexOf('?');
    const whole = mark < 0 ? url : url.slice(0, mark);
    const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
    const prefix = CLUSTER_PREFIX.exec(whole);
    const cluster = this.#options.clusters.get(prefix?.[1] ?? '');
    if (cluster === undefined) throw noSuchResource();
    const pathPrefix = prefix?.[0] ?? '';
    const path = whole.slice(pathPrefix.length) || '/';
    return { cluster, pathPrefix, path, query, info: parseRequestInfo(request.method ?? 'GET', path, query) };
  }

  async #answerResource(context: ResourceContext, cluster: ApiCluster): Promise<Answer> {
    const { info, contentType, user } = context;
    const ref = resolveResource(context);
    const { definition } = ref;
    const decode = async (kind: string): Promise<ReturnType<typeof reviewBody>> => {
      const type = contentType === '' ? 'application/json' : contentType;
      const body = await decodeWithinBudget(await context.body(), type, { kind });
      return reviewBody(body.value, kind);
    };
    if (info.subresource === 'token' && definition.plural === 'serviceaccounts') {
      if (info.verb !== 'create') throw methodNotAllowed();
      const { namespace, name } = info;
      const issuer = {
        tokens: cluster.credentials.serviceAccounts,
        store: cluster.store,
        nowMs: cluster.clock.now(),
      };
      return jsonAnswer(
        201,
        await answerTokenRequest(await decode('TokenRequest'), { namespace, name }, issuer),
      );
    }
    if (info.verb === 'create' && /Review$/.test(definition.kind) && definition.builtIn) {
      const { authorizer, credentials } = cluster;
      const review = await decode(definition.kind);
      const reviewContext = { user, authorizer, credentials, namespace: info.namespace };
      const answered = await answerReview(definition.kind, review, reviewContext);
      if (answered !== undefined) return jsonAnswer(201, answered);
    }
    return handleResource(context, ref);
  }

  async #answerPath(request: HubRequest, located: Located): Promise<Answer> {
    const { cluster, path, pathPrefix, info } = located;
    if (info.method !== 'GET' && info.method !== 'HEAD') throw noSuchResource();
    if (path === '/metrics') {
      const { text, contentType } = await this.#options.metrics.render();
      return { kind: 'body', code: 200, contentType, body: text };
    }
    const found = cluster.discovery.serve({
      path,
      query: located.query,
      accept: headerOf(request, 'accept'),
      ifNoneMatch: headerOf(request, 'if-none-match'),
      serverAddress: this.#options.serverAddress(),
      aggregated: await cluster.aggregator.groups(path),
      pathPrefix,
    });
    if (found !== undefined) return found;
    if (path === '/')
      return jsonAnswer(200, {
        paths: ['/api', '/apis', '/healthz', '/livez', '/metrics', '/openapi/v3', '/readyz', '/version'],
      });
    throw noSuchResource();
  }
}

async function requestBody(request: HubRequest): Promise<Buffer> {
  const encoding = headerOf(request, 'content-encoding') ?? 'identity';
  if (encoding !== 'identity')
    throw badRequest(`content-encoding: got ${JSON.stringify(encoding)}, expected none`);
  return readBody(request);
}
