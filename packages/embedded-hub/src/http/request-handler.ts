import type { Clock } from '@berth/runtime/clock/clock';
import { BerthError, errorText } from '@berth/runtime/errors';
import type { Incoming } from '@berth/runtime/http/forward-request';
import type { Logger } from '@berth/runtime/logger';
import { evaluateReview, reviewBody } from '../auth/access-review.ts';
import type { AuditLog } from '../auth/audit-log.ts';
import { authenticate, type Credentials } from '../auth/authenticate.ts';
import { impersonate } from '../auth/impersonate.ts';
import { type Authorizer, accessRefused } from '../auth/rbac/authorizer.ts';
import { issueToken } from '../auth/tokens/token-request.ts';
import type { ApiCluster } from '../cluster/api-cluster.ts';
import type { FlowControl } from '../flow/flow-control.ts';
import type { SecondTicks } from '../flow/second-ticks.ts';
import type { JsonObject } from '../json/json-value.ts';
import { parseFieldSelector, selectedName } from '../request/selectors.ts';
import { decodeWithinBudget, type RequestContext, type ResourceContext } from '../request/request-context.ts';
import { handleResource, resolveResource } from '../rest/handle-resource.ts';
import {
  type ApiResponse,
  jsonResponse,
  statusResponse,
  textResponse,
  type HubRequest,
  type HubResponse,
  headerOf,
  isClientGone,
} from '../wire/api-response.ts';
import { type RequestInfo, parseRequestInfo, type ResourceRequest } from '@berth/kube/request-info';
import { StatusError } from '../wire/status-error.ts';
import {
  badRequest,
  internalError,
  methodNotAllowed,
  noSuchResource,
  unauthorized,
  forbidden,
} from '../wire/status-errors.ts';
import type { UserInfo } from '../wire/user-info.ts';
import type { HubConnection } from './hub-connection.ts';
import type { HubMetrics } from './hub-metrics.ts';
import { OpenRequest } from './open-request.ts';
import { BODY_LIMIT_BYTES, receiveBody, discardRemainingBody } from './receive-body.ts';
import { sendResponse } from './transport.ts';

/** Body limit of reviews and token requests, which are small and open to every user. */
const REVIEW_LIMIT_BYTES = 64 * 1024;
/** Methods whose handlers read a body first; all other requests get their seat before. */
const BODY_METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const CLUSTER_PREFIX = /^\/clusters\/([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)(?=\/|$)/;

/** The Kubernetes version whose API the hub speaks. Clients parse it as a semantic version. */
export const VERSION_INFO: JsonObject = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.2+berth',
  gitCommit: '0000000000000000000000000000000000000000',
  gitTreeState: 'clean',
  buildDate: '2026-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'none',
  platform: 'node/any',
};

export interface HandlerOptions {
  /** The hub itself under '', members under their names. */
  readonly clusters: ReadonlyMap<string, ApiCluster>;
  readonly serverAddress: () => string;
  readonly audit: AuditLog;
  readonly metrics: HubMetrics;
  readonly flow: FlowControl;
  readonly ticks: SecondTicks;
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

/** The progress of a request: for the metrics, the audit log, and the end of its stream. */
interface Progress {
  info?: RequestInfo;
  /** Who sent the request. */
  caller?: UserInfo;
  /** The user that the caller impersonates, if any. */
  impersonated?: UserInfo;
  credentials?: Credentials;
  round: number;
  /** Address of the client. */
  readonly address: string;
  cluster?: string;
  allowed?: boolean;
  /** Audit annotations of admission. */
  annotations?: ReadonlyMap<string, string>;
}

/**
 * Handles a request from its first byte to its response: routing, authentication, authorization, execution. Every
 * refusal is a Status.
 */
export class RequestHandler {
  readonly #options: HandlerOptions;
  readonly #streams = new OpenStreams();

  constructor(options: HandlerOptions) {
    this.#options = options;
  }

  /** Ends requests that still run with revoked credentials. */
  async endRevokedStreams(): Promise<void> {
    const ended = await this.#streams.endRevoked();
    if (ended > 0) this.#options.log.info('ended streams of revoked credentials', { streams: ended });
  }

  handle(incoming: Incoming, connection: HubConnection): void {
    const { response } = incoming;
    // A client that disconnects is not an error of the hub, and cannot get a response.
    response.on('error', () => undefined);
    const open = new OpenRequest(incoming, connection, this.#options.ticks);
    void this.#handle(open).catch((error: unknown) => {
      this.#options.log.error('could not send a response', { error: errorText(error) });
      response.destroy();
    });
  }

  async #handle(open: OpenRequest): Promise<void> {
    const { request, response } = open;
    const startedMs = this.#options.clock.now();
    const progress: Progress = { round: this.#streams.round, address: open.connection.address };
    let result: ApiResponse;
    try {
      result = await this.#respond(open, progress);
      admitResponse(open, result);
    } catch (error) {
      result = statusResponse(this.#refusal(error, request));
    }
    open.exchange.finishWork();
    const code = result.kind === 'stream' ? 200 : result.code;
    const finished = { code, startedMs, durationMs: this.#options.clock.now() - startedMs };
    this.#options.metrics.observe(progress.info, { ...finished, allowed: progress.allowed === true });
    this.#options.audit.record(request, progress, finished);
    const ends = result.kind === 'body' || result.kind === 'chunks';
    if (ends) open.sendingBegan();
    else await this.#streams.add({ request, response, ...progress }, progress.round);
    await sendResponse(request, response, result, open.exchange);
    if (ends) discardRemainingBody(request, this.#options.ticks);
  }

  #refusal(error: unknown, request: HubRequest): StatusError {
    if (error instanceof StatusError) return error;
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#options.log.error('request failed', { method: request.method, url: request.url, error: detail });
    return internalError(
      error instanceof BerthError ? error.message : 'the hub could not handle the request',
    );
  }

  async #respond(open: OpenRequest, progress: Progress): Promise<ApiResponse> {
    const { request } = open;
    const located = this.#locate(request);
    const { cluster, info, query, path } = located;
    progress.info = info;
    progress.cluster = cluster.name;
    const publicResponse = servePublicPath(info.method, path, query);
    if (publicResponse !== undefined) return publicResponse;
    const caller = await authenticate(request, cluster.credentials);
    if (caller === 'anonymous' || caller === 'invalid') throw unauthorized();
    progress.caller = caller;
    progress.credentials = cluster.credentials;
    open.connection.identify(caller);
    open.enter(this.#options.flow.enter(caller, info));
    const user = impersonate(request, caller, cluster.authorizer);
    if (user !== caller) progress.impersonated = user;
    requireAccess(cluster.authorizer, user, info, query);
    progress.allowed = true;
    const forwarded = await cluster.aggregator.forward(open, path, user);
    if (forwarded !== undefined) return forwarded;
    if (!BODY_METHODS.has(info.method)) {
      const waiting = open.exchange.takeSeat();
      if (waiting !== undefined) await waiting;
    }
    const context: RequestContext = {
      cluster,
      user,
      query,
      accept: headerOf(request, 'accept'),
      contentType: headerOf(request, 'content-type') ?? '',
      userAgent: headerOf(request, 'user-agent') ?? '',
      body: (limitBytes) => this.#body(open, limitBytes),
      waitOutside: (call) => open.exchange.waitOutside(call),
      annotate: (annotations) => {
        if (annotations.size > 0) progress.annotations = annotations;
      },
    };
    if (info.kind === 'resource') return this.#serveResource({ ...context, info }, cluster);
    return this.#servePath(request, located);
  }

  /** Reads the body, and takes a seat afterwards. */
  async #body({ request, exchange }: OpenRequest, limitBytes = BODY_LIMIT_BYTES): Promise<Buffer> {
    const bytes = await receiveBody(request, { limitBytes, exchange, ticks: this.#options.ticks });
    const waiting = exchange.takeSeat();
    if (waiting !== undefined) await waiting;
    return bytes;
  }

  #locate(request: HubRequest): Located {
    const url = request.url ?? '/';
    const queryStart = url.indexOf('?');
    const whole = queryStart < 0 ? url : url.slice(0, queryStart);
    const query = new URLSearchParams(queryStart < 0 ? '' : url.slice(queryStart + 1));
    const prefix = CLUSTER_PREFIX.exec(whole);
    const cluster = this.#options.clusters.get(prefix?.[1] ?? '');
    if (cluster === undefined) throw noSuchResource();
    const pathPrefix = prefix?.[0] ?? '';
    const path = whole.slice(pathPrefix.length) || '/';
    return { cluster, pathPrefix, path, query, info: requestInfo(request.method ?? 'GET', path, query) };
  }

  async #serveResource(context: ResourceContext, cluster: ApiCluster): Promise<ApiResponse> {
    const { info, contentType, user } = context;
    const ref = resolveResource(context);
    const { definition } = ref;
    const decode = async (kind: string): Promise<ReturnType<typeof reviewBody>> => {
      const type = contentType === '' ? 'application/json' : contentType;
      const body = await decodeWithinBudget(await context.body(REVIEW_LIMIT_BYTES), type, { kind });
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
      return jsonResponse(201, await issueToken(await decode('TokenRequest'), { namespace, name }, issuer));
    }
    if (info.verb === 'create' && /Review$/.test(definition.kind) && definition.builtIn) {
      const { authorizer, credentials } = cluster;
      const review = await decode(definition.kind);
      const reviewContext = { user, authorizer, credentials, namespace: info.namespace };
      const reviewed = await evaluateReview(definition.kind, review, reviewContext);
      if (reviewed !== undefined) return jsonResponse(201, reviewed);
    }
    return handleResource(context, ref);
  }

  async #servePath(request: HubRequest, located: Located): Promise<ApiResponse> {
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
      return jsonResponse(200, {
        paths: [
          ...['/api', '/apis', '/healthz', '/livez', '/metrics', '/openapi/v2', '/openapi/v3'],
          ...['/readyz', '/version'],
        ],
      });
    throw noSuchResource();
  }
}

/** @throws StatusError 400 for a path that means nothing */
function requestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  try {
    return parseRequestInfo(method, path, query);
  } catch (error) {
    throw badRequest(errorText(error));
  }
}

/**
 * Counts a response as unread until the client has read it. The response of a write is never
 * refused, because the write is done.
 * @throws StatusError 429
 */
function admitResponse(open: OpenRequest, result: ApiResponse): void {
  if (result.kind === 'stream') open.exchange.becomeWatch();
  if (result.kind === 'body')
    open.exchange.countResponse(result.body.length, !BODY_METHODS.has(open.request.method ?? ''));
}

interface OpenStream {
  readonly request: HubRequest;
  readonly response: HubResponse;
  /** The owner of the request's credentials; absent: there are none. */
  readonly caller?: UserInfo;
  readonly credentials?: Credentials;
}

/**
 * Watches and other streams. kube-apiserver lets a watch of a revoked user run until it times out;
 * here it ends when the revocation is read.
 */
class OpenStreams {
  readonly #open = new Set<OpenStream>();
  #round = 0;

  /** Increases each time that all streams are checked. */
  get round(): number {
    return this.#round;
  }

  /**
   * @param authenticatedIn the round in which the caller was authenticated: later revocations are
   * checked now
   */
  async add(stream: OpenStream, authenticatedIn: number): Promise<void> {
    const { response } = stream;
    if (isClientGone(response)) return;
    this.#open.add(stream);
    response.once('close', () => this.#open.delete(stream));
    if (authenticatedIn !== this.#round) await endIfRevoked(stream);
  }

  /**
   * Ends the streams whose credentials are no longer valid or have other groups now.
   * @returns their number
   */
  async endRevoked(): Promise<number> {
    this.#round += 1;
    let ended = 0;
    for (const stream of this.#open) if (await endIfRevoked(stream)) ended += 1;
    return ended;
  }
}

/** Checks the credentials of the request again. */
async function endIfRevoked({ request, response, caller, credentials }: OpenStream): Promise<boolean> {
  if (caller === undefined || credentials === undefined) return false;
  const found = await authenticate(request, credentials).catch(() => 'invalid' as const);
  if (typeof found === 'object' && identityOf(found) === identityOf(caller)) return false;
  // Buffered data of a slow client is dropped, too.
  response.destroy();
  return true;
}

function identityOf({ name, groups }: UserInfo): string {
  return JSON.stringify([name, groups]);
}

const HEALTH = /^\/(healthz|livez|readyz)(\/[a-z-]+)?$/;

/** Health and version: paths without authentication. */
function servePublicPath(method: string, path: string, query: URLSearchParams): ApiResponse | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (path === '/version' || path === '/version/') return jsonResponse(200, VERSION_INFO);
  const health = HEALTH.exec(path);
  if (health === null) return undefined;
  if (query.has('verbose'))
    return textResponse(200, `[+]ping ok\n[+]log ok\n${health[1] ?? ''} check passed\n`);
  return textResponse(200, 'ok');
}

/** @throws StatusError 403 with the text of kube-apiserver */
function requireAccess(
  authorizer: Authorizer,
  user: UserInfo,
  info: RequestInfo,
  query: URLSearchParams,
): void {
  if (info.kind === 'path') {
    if (authorizer.allowsPath(user, info.verb, info.path)) return;
    const why = `User ${JSON.stringify(user.name)} cannot ${info.verb} path ${JSON.stringify(info.path)}`;
    throw forbidden({ group: '', plural: '' }, '', why);
  }
  const { verb, group, resource, subresource, namespace } = info;
  const attributes = { verb, group, resource, subresource, namespace, name: requestedName(info, query) };
  if (!authorizer.allows(user, attributes)) throw accessRefused(user, attributes, info.name);
}

/** A list or watch of one object by field selector counts as a request for that name. */
function requestedName(info: ResourceRequest, query: URLSearchParams): string {
  if (info.name !== '' || !['list', 'watch', 'deletecollection'].includes(info.verb)) return info.name;
  try {
    return selectedName(parseFieldSelector(query.get('fieldSelector') ?? ''));
  } catch {
    // An invalid selector is refused later, with a message about the selector.
    return '';
  }
}
