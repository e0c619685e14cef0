import type { Clock } from '@berth/runtime/clock/clock';
import { type BerthError, InputError } from '@berth/runtime/errors';
import { parseExactIntegers } from '@berth/runtime/json/exact-json';
import { jsonText } from '@berth/runtime/json/json-equal';
import type { ImpersonatedUser } from './config/impersonation-headers.ts';
import type { KubeConfig } from './config/kube-config.ts';
import { Discovery } from './discovery.ts';
import { type KindInfo, apiVersionOf } from './model/kinds.ts';
import type {
  DeleteOptions,
  KubeApi,
  ListOptions,
  ObjectKey,
  ObjectList,
  ServerEndpoints,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './model/kube-api.ts';
import type { KubeObject } from './model/object-meta.ts';
import { KubeConnection, type KubeRequest } from './transport/kube-connection.ts';
import {
  parseKubeStatus,
  errorForStatus,
  networkError,
  type RequestSubject,
} from './transport/kube-errors.ts';
import type { KubeResponse, WriteFence } from './transport/kube-transport.ts';
import { parseJsonBody, readBody, readWatchEvents } from './transport/response-body.ts';
import { DEFAULT_MAX_REQUESTS, RequestSlots } from './transport/request-slots.ts';
import type { ServerOutage } from './transport/server-outage.ts';

export interface HttpKubeApiOptions {
  readonly config: KubeConfig;
  readonly clock: Clock;
  /** The limit from sending to the headers of the response, and between two chunks of its body. Default: 30 s. */
  readonly requestTimeoutMs?: number;
  /** Concurrent requests, not counting watches. Further requests wait. Default: 32. */
  readonly maxRequests?: number;
  /** How long a request may wait. Default: 120 s. */
  readonly queueTimeoutMs?: number;
  /** The server is asked to end each watch after about this time. Default: 290 s. */
  readonly watchSeconds?: number;
  readonly partSize?: number;
  readonly random?: () => number;
  /** Default: `berth`. */
  readonly userAgent?: string;
  /** The user to impersonate. The user of the kubeconfig needs the right to impersonate. */
  readonly impersonate?: ImpersonatedUser;
  /**
   * Return whole numbers between 2^53 and 2^63 as bigint, for callers that write them again. Default: the nearest
   * double, for code that treats objects as plain JSON. Both forms can be written.
   */
  readonly exactIntegers?: boolean;
  /** The command that prints the rights of this process, for errors about a missing right: `berth serve --print-rbac`. */
  readonly rightsCommand?: string | undefined;
  /** Default: writes are always sent. */
  readonly fence?: WriteFence | undefined;
  /** Is notified whether the server answers. */
  readonly outage?: ServerOutage | undefined;
}

/** KubeApi over HTTPS, for the embedded hub, a real hub and a managed cluster alike. */
export class HttpKubeApi implements KubeApi, ServerEndpoints {
  readonly server: string;
  readonly onRecovery: KubeApi['onRecovery'];
  readonly #connection: KubeConnection;
  readonly #slots: RequestSlots;
  readonly #discovery: Discovery;
  readonly #timeoutMs: number;
  readonly #watchSeconds: number;
  readonly #partSize: number;
  readonly #random: () => number;
  readonly #parse: (text: string) => unknown;
  readonly #fence: WriteFence | undefined;
  readonly #rightsCommand: string | undefined;

  constructor(options: HttpKubeApiOptions) {
    this.#timeoutMs = options.requestTimeoutMs ?? 30_000;
    this.#watchSeconds = options.watchSeconds ?? 290;
    this.#partSize = options.partSize ?? 500;
    this.#random = options.random ?? Math.random;
    this.#parse = options.exactIntegers === true ? parseExactIntegers : JSON.parse;
    this.#fence = options.fence;
    this.#rightsCommand = options.rightsCommand;
    const { config, clock } = options;
    this.#connection = new KubeConnection({
      config,
      clock,
      requestTimeoutMs: this.#timeoutMs,
      userAgent: options.userAgent ?? 'berth',
      impersonate: options.impersonate,
      outage: options.outage,
    });
    this.#slots = new RequestSlots(
      options.maxRequests ?? DEFAULT_MAX_REQUESTS,
      options.queueTimeoutMs ?? 120_000,
      clock,
    );
    this.server = this.#connection.server;
    this.onRecovery = options.outage?.onEnd;
    this.#discovery = new Discovery((path) => this.#readOrUndefined(path), clock);
  }

  close(): void {
    this.#connection.close();
  }

  async get(kind: KindInfo, key: ObjectKey): Promise<KubeObject | undefined> {
    const path = resourcePath(kind, key.namespace, key.name);
    const found = await this.#readOrUndefined(path);
    return found === undefined ? undefined : requireObject(found, { method: 'GET', path });
  }

  async list(kind: KindInfo, options: ListOptions = {}): Promise<ObjectList> {
    const path = resourcePath(kind, options.namespace);
    const items: KubeObject[] = [];
    let resourceVersion = '';
    let next: string | undefined;
    do {
      const query = queryString({ ...selectors(options), limit: this.#partSize, continue: next });
      const request = { method: 'GET', path, query };
      const part = requireList(await this.#call(request), request);
      const type = itemTypeOf(part, kind);
      for (const item of part.items) items.push(item.kind === undefined ? { ...item, ...type } : item);
      resourceVersion = part.metadata.resourceVersion;
      next = part.metadata.continue;
    } while (next !== undefined && next !== '');
    return { items, resourceVersion };
  }

  async *watch(kind: KindInfo, options: WatchOptions): AsyncGenerator<WatchEvent> {
    const path = resourcePath(kind, options.namespace);
    const query = queryString({
      ...selectors(options),
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: options.resourceVersion,
      // Randomised, so that streams that started together do not end together.
      timeoutSeconds: Math.ceil(this.#watchSeconds * (1 + 0.2 * this.#random())),
    });
    const request: KubeRequest = { method: 'GET', path, query, signal: options.signal, isStream: true };
    let response;
    try {
      response = await this.#connection.open(request);
    } catch (error) {
      if (options.signal.aborted) return;
      throw error;
    }
    if (response.statusCode !== 200) throw await this.#failure(response, request);
    options.onOpen?.();
    yield* readWatchEvents(response, request, { signal: options.signal, parse: this.#parse });
  }

  async create(kind: KindInfo, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    const { namespace, name } = object.metadata;
    const { subresource } = options;
    const request = {
      method: 'POST',
      path:
        subresource === undefined
          ? resourcePath(kind, namespace)
          : resourcePath(kind, namespace, name, subresource),
      query: writeQuery(options),
      accept: acceptOf(options),
      body: jsonText(object),
    };
    // A review is a query that changes nothing, and standbys send it, too.
    if (REVIEW_GROUPS.includes(kind.group)) return requireObject(await this.#call(request), request);
    return this.#write(request);
  }

  async update(kind: KindInfo, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    const { namespace, name } = object.metadata;
    return this.#write({
      method: 'PUT',
      path: resourcePath(kind, namespace, name, options.subresource),
      query: writeQuery(options),
      accept: acceptOf(options),
      body: jsonText(object),
    });
  }

  async mergePatch(
    kind: KindInfo,
    key: ObjectKey,
    patch: object,
    options: WriteOptions = {},
  ): Promise<KubeObject> {
    return this.#write({
      method: 'PATCH',
      path: resourcePath(kind, key.namespace, key.name, options.subresource),
      query: writeQuery(options),
      accept: acceptOf(options),
      contentType: 'application/merge-patch+json',
      body: jsonText(patch),
    });
  }

  async apply(
    kind: KindInfo,
    object: KubeObject,
    options: WriteOptions & { readonly fieldManager: string; readonly force?: boolean },
  ): Promise<KubeObject> {
    const { namespace, name } = object.metadata;
    return this.#write({
      method: 'PATCH',
      path: resourcePath(kind, namespace, name, options.subresource),
      query: queryString({
        fieldManager: options.fieldManager,
        force: options.force,
        dryRun: options.dryRun === true ? 'All' : undefined,
      }),
      accept: acceptOf(options),
      // JSON is valid YAML, and servers accept JSON here.
      contentType: 'application/apply-patch+yaml',
      body: jsonText(object),
    });
  }

  async delete(kind: KindInfo, key: ObjectKey, options: DeleteOptions = {}): Promise<boolean> {
    const { uid, resourceVersion, propagationPolicy, dryRun = false } = options;
    const preconditions =
      uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion };
    try {
      await this.#call({
        method: 'DELETE',
        path: resourcePath(kind, key.namespace, key.name),
        query: queryString({ dryRun: dryRun ? 'All' : undefined }),
        body: JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', preconditions, propagationPolicy }),
        fence: this.#fence,
      });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  async probe(
    path: '/livez' | '/healthz' | '/version',
  ): Promise<{ readonly statusCode: number; readonly text: string }> {
    const request = { method: 'GET', path };
    const response = await this.#connection.open(request);
    return { statusCode: response.statusCode, text: await readBody(response, request, this.#timeoutMs) };
  }

  resolve(apiVersion: string, kind: string): Promise<KindInfo | undefined> {
    return this.#discovery.resolve(apiVersion, kind);
  }

  async #readOrUndefined(path: string): Promise<unknown> {
    try {
      return await this.#call({ method: 'GET', path });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #write(request: KubeRequest): Promise<KubeObject> {
    return requireObject(await this.#call({ ...request, fence: this.#fence }), request);
  }

  #call(request: KubeRequest): Promise<unknown> {
    return this.#slots.run(request, async () => {
      const response = await this.#connection.open(request);
      const status = response.statusCode;
      if (status < 200 || status > 299) throw await this.#failure(response, request);
      return parseJsonBody(await readBody(response, request, this.#timeoutMs), request, this.#parse);
    });
  }

  async #failure(response: KubeResponse, request: KubeRequest): Promise<BerthError> {
    const text = await readBody(response, request, this.#timeoutMs);
    let status: unknown;
    try {
      status = JSON.parse(text);
    } catch {
      // Proxies respond with HTML or an empty body. The HTTP status is enough then.
    }
    const retryAfter = Number(response.headers['retry-after']);
    return errorForStatus(
      response.statusCode,
      parseKubeStatus(status),
      { ...request, rightsCommand: this.#rightsCommand },
      Number.isFinite(retryAfter) ? retryAfter : undefined,
    );
  }
}

/** API groups whose objects are queries. */
const REVIEW_GROUPS: readonly string[] = ['authorization.k8s.io', 'authentication.k8s.io'];

function isNotFound(error: unknown): boolean {
  return error instanceof InputError && error.code === 'kube.notfound';
}

function selectors(options: ListOptions): Record<string, string | undefined> {
  return { labelSelector: options.labelSelector, fieldSelector: options.fieldSelector };
}

function writeQuery(options: WriteOptions): string | undefined {
  return queryString({
    fieldManager: options.fieldManager,
    dryRun: options.dryRun === true ? 'All' : undefined,
  });
}

/** Servers that cannot return a PartialObjectMetadata for the kind return the whole object. */
const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

function acceptOf({ metadataOnly }: WriteOptions): string | undefined {
  return metadataOnly === true ? METADATA_ONLY : undefined;
}

/** `/apis/GROUP/VERSION[/namespaces/NS]/PLURAL[/NAME[/SUBRESOURCE]]`; every part is escaped. */
function resourcePath(
  kind: KindInfo,
  namespace: string | undefined,
  name?: string,
  subresource?: string,
): string {
  const parts = kind.group === '' ? ['api', kind.version] : ['apis', kind.group, kind.version];
  if (kind.namespaced && namespace !== undefined && namespace !== '') parts.push('namespaces', namespace);
  parts.push(kind.plural);
  if (name !== undefined) parts.push(name);
  if (subresource !== undefined) parts.push(subresource);
  return `/${parts.map(escapeSegment).join('/')}`;
}

/** Characters that need no escaping in a path or a query. */
const PLAIN = /^[A-Za-z0-9_-]+$/;

function escapeSegment(part: string): string {
  if (PLAIN.test(part)) return part;
  // URL parsing would resolve `.` and `..`, and so address another resource.
  return part === '.' || part === '..' ? part.replaceAll('.', '%252E') : encodeURIComponent(part);
}

/** Joins the parameters that are set as `a=1&b=2`; undefined if none is set. */
function queryString(
  parameters: Readonly<Record<string, string | number | boolean | undefined>>,
): string | undefined {
  const set = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== '');
  if (set.length === 0) return undefined;
  // Most are plain words, and every write has one, so this case is fast.
  const words = set.every(([, value]) => PLAIN.test(String(value)));
  if (words) return set.map(([name, value]) => `${name}=${String(value)}`).join('&');
  return new URLSearchParams(set.map(([name, value]): [string, string] => [name, String(value)])).toString();
}

/** @throws TransientError for a response that is not an object of the API */
function requireObject(value: unknown, request: RequestSubject): KubeObject {
  const object = value as KubeObject | null;
  // Reviews (SubjectAccessReview and others) are answered without a name.
  if (typeof object === 'object' && typeof object?.metadata === 'object' && object.metadata !== null)
    return object;
  throw networkError('the response is not an object with metadata', request);
}

interface ListBody {
  /** Ends in `List`. */
  readonly kind: string;
  readonly apiVersion?: string;
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly KubeObject[];
}

/** A response that is not a complete list is an error: an empty list must never come from a misread response. */
function requireList(value: unknown, request: RequestSubject): ListBody {
  const list = value as { kind?: unknown; metadata?: { resourceVersion?: unknown }; items?: unknown } | null;
  const complete =
    typeof list === 'object' &&
    typeof list?.kind === 'string' &&
    list.kind.endsWith('List') &&
    typeof list.metadata?.resourceVersion === 'string' &&
    // Go servers send `null` for an empty slice.
    (Array.isArray(list.items) || list.items === null);
  if (!complete)
    throw networkError('the response is not a list with metadata.resourceVersion and items', request);
  return { ...(list as ListBody), items: (list as { items: ListBody['items'] | null }).items ?? [] };
}

/**
 * The type of items that do not name theirs: those of built-in kinds. The list tells it; a caller may know only the
 * resource.
 */
function itemTypeOf(
  { kind, apiVersion }: ListBody,
  resource: KindInfo,
): { readonly apiVersion: string; readonly kind: string } {
  const itemKind = kind.slice(0, -'List'.length);
  return {
    apiVersion: apiVersion ?? apiVersionOf(resource),
    kind: itemKind === '' ? resource.kind : itemKind,
  };
}
