import type { ClientRequest, OutgoingHttpHeaders } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import type { PemPair } from '@berth/kube/x509/self-signed-authority';
import type { Clock } from '@berth/runtime/clock/clock';
import { forwardRequest, type Incoming } from '@berth/runtime/http/forward-request';
import type { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { FRONT_PROXY } from '../auth/certificates/client-signer.ts';
import type { ServedGroup, ServedVersion, RemoteDocuments } from '../discovery/discovery-documents.ts';
import { type JsonObject, isObject, listAt, objectAt, textAt, type JsonValue } from '../json/json-value.ts';
import type { Cluster } from '../request/cluster.ts';
import { compareVersionPriority } from '../schema/resource-definition.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { resolveService, serviceServerName } from '../webhooks/webhook-clients.ts';
import type { ForwardedResponse } from '../wire/api-response.ts';
import { unavailable } from '../wire/status-errors.ts';
import type { UserInfo } from '../wire/user-info.ts';

/** The requests of an API, and its OpenAPI document. */
const API_PATH = /^(?:\/openapi\/v3)?\/apis\/([^/]+)\/([^/]+)(\/|$)/;

/** Forwards requests for aggregated APIs to their servers. */
export class Aggregator {
  readonly #cluster: Pick<Cluster, 'store' | 'scheme' | 'clock'>;
  readonly #identity: FrontProxyIdentity;
  readonly #discovery: RemoteDiscovery;

  /** @param authority signs the certificate with which the hub authenticates to extension servers */
  constructor(cluster: Pick<Cluster, 'store' | 'scheme' | 'clock'>, authority: CertificateAuthority) {
    this.#cluster = cluster;
    this.#identity = new FrontProxyIdentity(authority, cluster.clock);
    this.#discovery = new RemoteDiscovery(cluster.clock);
  }

  /**
   * Returns undefined when the hub serves the path itself.
   * @throws StatusError 503
   */
  async forward(incoming: Incoming, path: string, user: UserInfo): Promise<ForwardedResponse | undefined> {
    const match = API_PATH.exec(path);
    if (match === null) return undefined;
    const [group, version] = [match[1] ?? '', match[2] ?? ''];
    const api = findAggregatedApi(this.#cluster.store, group, version);
    if (api === undefined || this.#servesItself(group, version)) return undefined;
    const { url = '' } = incoming.request;
    const queryStart = url.indexOf('?');
    const target = queryStart < 0 ? path : path + url.slice(queryStart);
    return forward(incoming, api, { user, identity: await this.#identity.current(), path: target });
  }

  /**
   * The groups of other servers, with their documents if `path` lists them. The first call waits
   * for these.
   */
  async groups(path: string): Promise<readonly ServedGroup[]> {
    const groups = new Map<string, ServedVersion[]>();
    const apis = aggregatedApis(this.#cluster.store).filter(
      ({ group, version }) => !this.#servesItself(group, version),
    );
    this.#discovery.keepOnly(new Set(apis.map(({ name }) => name)));
    const listsDocuments = /^\/(apis|openapi\/v3)\/?$/.test(path);
    const documents = await Promise.all(
      listsDocuments
        ? apis.map((api) => this.#discovery.documentsOf(api, () => this.#identity.current()))
        : [],
    );
    for (const [index, { group, version }] of apis.entries()) {
      const served = { version, resources: [], remote: documents[index] };
      groups.set(group, [...(groups.get(group) ?? []), served]);
    }
    return [...groups].map(([group, versions]) => ({
      group,
      versions: versions.sort((a, b) => compareVersionPriority(a.version, b.version)),
    }));
  }

  /** An APIService cannot replace a group and version that the hub serves itself. */
  #servesItself(group: string, version: string): boolean {
    const own = this.#cluster.scheme.groups().find((candidate) => candidate.group === group);
    return own?.versions.some((candidate) => candidate.version === version) === true;
  }
}

const CERTIFICATE_LIFETIME_MS = 30 * 86_400_000;
/** Renewed at half of its lifetime, so that clocks of extension servers may differ. */
const CERTIFICATE_RENEW_AFTER_MS = CERTIFICATE_LIFETIME_MS / 2;

/** The client certificate with which the hub authenticates to extension servers; renewed on use. */
export class FrontProxyIdentity {
  readonly #authority: CertificateAuthority;
  readonly #clock: Clock;
  #issued: { readonly pair: PemPair; readonly atMs: number } | undefined;

  constructor(authority: CertificateAuthority, clock: Clock) {
    this.#authority = authority;
    this.#clock = clock;
  }

  async current(): Promise<PemPair> {
    const nowMs = this.#clock.now();
    // A clock that jumps back must not delay the renewal.
    if (this.#issued === undefined || Math.abs(nowMs - this.#issued.atMs) >= CERTIFICATE_RENEW_AFTER_MS) {
      const subject = { commonName: FRONT_PROXY, organizations: [] };
      this.#issued = {
        pair: await this.#authority.issueClient(subject, nowMs, CERTIFICATE_LIFETIME_MS),
        atMs: nowMs,
      };
    }
    return this.#issued.pair;
  }
}

interface CachedDocuments {
  /** The address in the APIService; another address is another server. */
  readonly server: string;
  readonly documents: RemoteDocuments;
  readonly fetchedAtMs: number;
}

const DOCUMENTS_FRESH_MS = 60_000;
const NO_DOCUMENTS: RemoteDocuments = { resources: [], openApiUrl: '', current: false };

/**
 * Reads discovery documents from the servers of aggregated APIs, at most once a minute each. Only
 * the first caller waits; later ones get the cached documents while these are refreshed, so that a
 * slow server delays no request.
 */
export class RemoteDiscovery {
  readonly #clock: Clock;
  /** By name of the APIService. */
  readonly #cached = new Map<string, CachedDocuments>();
  /** By server. */
  readonly #pending = new Map<string, Promise<RemoteDocuments>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  documentsOf(api: AggregatedApi, identity: () => Promise<PemPair>): Promise<RemoteDocuments> {
    const server = JSON.stringify(api);
    const cached = this.#cached.get(api.name);
    const isSame = cached?.server === server;
    if (isSame && Math.abs(this.#clock.now() - cached.fetchedAtMs) < DOCUMENTS_FRESH_MS)
      return Promise.resolve(cached.documents);
    const fetched = this.#pending.get(server) ?? this.#refresh(server, api, identity);
    return isSame ? Promise.resolve(cached.documents) : fetched;
  }

  /**
   * Forgets the servers of deleted APIServices.
   * @param names of the existing ones
   */
  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#cached.keys()) if (!names.has(name)) this.#cached.delete(name);
  }

  #refresh(server: string, api: AggregatedApi, identity: () => Promise<PemPair>): Promise<RemoteDocuments> {
    const fetched = this.#fetch(api, identity)
      .catch(() => ({ ...this.#lastOf(api, server), current: false }))
      .then((documents) => {
        this.#cached.set(api.name, { server, documents, fetchedAtMs: this.#clock.now() });
        this.#pending.delete(server);
        return documents;
      });
    this.#pending.set(server, fetched);
    return fetched;
  }

  #lastOf({ name }: AggregatedApi, server: string): RemoteDocuments {
    const cached = this.#cached.get(name);
    return cached?.server === server ? cached.documents : NO_DOCUMENTS;
  }

  async #fetch(api: AggregatedApi, identity: () => Promise<PemPair>): Promise<RemoteDocuments> {
    const own = await identity();
    const path = `apis/${api.group}/${api.version}`;
    const [list, index] = await Promise.all([
      fetchFromServer(api, own, `/${path}`),
      // Servers without OpenAPI v3 are served without schemas.
      fetchFromServer(api, own, '/openapi/v3').catch((): JsonObject => ({})),
    ]);
    const openApiUrl = textAt(objectAt(objectAt(index, 'paths'), path), 'serverRelativeURL');
    return {
      resources: aggregatedResources(list, api),
      openApiUrl: openApiUrl.startsWith(`/openapi/v3/${path}`) ? openApiUrl : '',
      current: true,
    };
  }
}

/** Converts an APIResourceList to aggregated discovery, with subresources below their resources. */
function aggregatedResources(list: JsonObject, api: AggregatedApi): readonly JsonObject[] {
  const entries = listAt(list, 'resources').filter(isObject);
  return entries
    .filter((entry) => /^[^/]+$/.test(textAt(entry, 'name')))
    .map((entry) => {
      const prefix = `${textAt(entry, 'name')}/`;
      const subresources = entries
        .filter((one) => textAt(one, 'name').startsWith(prefix))
        .map(
          (one): JsonObject => ({
            subresource: textAt(one, 'name').slice(prefix.length),
            responseKind: responseKind(one, api),
            verbs: [...listAt(one, 'verbs')],
          }),
        );
      const lists = ['shortNames', 'categories'].filter((key) => listAt(entry, key).length > 0);
      return {
        resource: textAt(entry, 'name'),
        responseKind: responseKind(entry, api),
        scope: entry['namespaced'] === true ? 'Namespaced' : 'Cluster',
        singularResource: textAt(entry, 'singularName'),
        verbs: [...listAt(entry, 'verbs')],
        ...Object.fromEntries(lists.map((key) => [key, [...listAt(entry, key)]])),
        ...(subresources.length > 0 && { subresources }),
      };
    });
}

function responseKind(entry: JsonObject, api: AggregatedApi): JsonObject {
  return {
    group: textAt(entry, 'group') || api.group,
    version: textAt(entry, 'version') || api.version,
    kind: textAt(entry, 'kind'),
  };
}

/**
 * Address, CA and client certificate for the server of an aggregated API.
 * @throws StatusError 503 when its Service cannot be resolved
 */
function connectionTo(api: AggregatedApi, identity: PemPair): RequestOptions {
  if (api.host === '') throw unavailable(`the Service of ${api.name} resolves to no address`);
  return {
    host: api.host,
    port: api.port,
    servername: api.serverName,
    cert: identity.certPem,
    key: identity.keyPem,
    ...(api.caPem !== undefined && { ca: api.caPem }),
    rejectUnauthorized: !api.insecure,
  };
}

/** The first client waits at most this long. */
const DISCOVERY_TIMEOUT_MS = 2_000;
const RESPONSE_LIMIT_BYTES = 16 * 1024 * 1024;
/** The user that requests the documents, as in kube-aggregator. */
const AGGREGATOR_HEADERS = { 'x-remote-user': 'system:kube-aggregator', 'x-remote-group': 'system:masters' };

/**
 * A document of the server, as JSON.
 * @throws Error when there is none, or not in time
 */
function fetchFromServer(api: AggregatedApi, identity: PemPair, path: string): Promise<JsonObject> {
  return new Promise((resolve, reject) => {
    const headers = { ...AGGREGATOR_HEADERS, accept: 'application/json' };
    const signal = AbortSignal.timeout(DISCOVERY_TIMEOUT_MS);
    const sent = httpsRequest({ ...connectionTo(api, identity), path, headers, signal }, (response) => {
      const chunks: Buffer[] = [];
      let sizeBytes = 0;
      response.on('data', (chunk: Buffer) => {
        sizeBytes += chunk.length;
        if (sizeBytes > RESPONSE_LIMIT_BYTES) sent.destroy(new Error('the response is too large'));
        else chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('end', () => {
        try {
          if (response.statusCode !== 200) throw new Error(`responded with ${String(response.statusCode)}`);
          const document = JSON.parse(Buffer.concat(chunks).toString('utf8')) as JsonValue;
          if (!isObject(document)) throw new Error('the response is no JSON object');
          resolve(document);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** Another server that serves one group and version. */
export interface AggregatedApi {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  /** '' when its Service cannot be resolved. */
  readonly host: string;
  readonly port: number;
  /** Name in the server's certificate: `NAME.NAMESPACE.svc`, as extension servers have it. */
  readonly serverName: string;
  readonly caPem: string | undefined;
  readonly insecure: boolean;
}

/**
 * The API that an APIService delegates to another server; undefined if there is none for the group
 * and version.
 */
export function findAggregatedApi(
  store: ObjectStore,
  group: string,
  version: string,
): AggregatedApi | undefined {
  return aggregatedApis(store).find((api) => api.group === group && api.version === version);
}

const API_SERVICES = 'apiservices.apiregistration.k8s.io';

/** Every APIService with a service. */
function aggregatedApis(store: ObjectStore): readonly AggregatedApi[] {
  if (store.count(API_SERVICES) === 0) return [];
  return store.list(API_SERVICES).flatMap(({ name, object }) => {
    const spec = objectAt(object, 'spec');
    const service = objectAt(spec, 'service');
    if (spec === undefined || service === undefined) return [];
    const [namespace, serviceName] = [textAt(service, 'namespace'), textAt(service, 'name')];
    const port = typeof service['port'] === 'number' ? service['port'] : 443;
    const address = resolveService(store, { namespace, name: serviceName, port }) ?? { host: '', port };
    const bundle = textAt(spec, 'caBundle');
    return [
      {
        name,
        group: textAt(spec, 'group'),
        version: textAt(spec, 'version'),
        ...address,
        serverName: serviceServerName({ namespace, name: serviceName }),
        caPem: bundle === '' ? undefined : Buffer.from(bundle, 'base64').toString('utf8'),
        insecure: spec['insecureSkipTLSVerify'] === true,
      },
    ];
  });
}

/** Headers of one connection (hop by hop) and the caller's credentials. */
const NOT_FORWARDED =
  /^(:.*|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|authorization|impersonate-.*|x-remote-.*)$/;

/**
 * Forwards a request to the server of an aggregated API, and streams body and response; after an upgrade, the connections. The user is
 * sent in X-Remote headers, authenticated by the front-proxy certificate; the caller's own credentials are not sent.
 * @throws StatusError 503 when the server cannot be reached
 */
async function forward(
  incoming: Incoming,
  api: AggregatedApi,
  caller: { readonly user: UserInfo; readonly identity: PemPair; readonly path: string },
): Promise<ForwardedResponse> {
  const headers = forwardedHeaders(incoming, caller.user);
  const options = { ...connectionTo(api, caller.identity), path: caller.path, headers };
  const send = (one: RequestOptions): ClientRequest => connectedInTime(httpsRequest(one));
  const code = await forwardRequest(incoming, { send, options }).catch((error: unknown) => {
    throw unavailable(`the server of ${api.name} cannot be reached: ${String(error)}`);
  });
  return { kind: 'forwarded', code };
}

const CONNECT_TIMEOUT_MS = 10_000;

function connectedInTime(sent: ClientRequest): ClientRequest {
  const timer = setTimeout(() => sent.destroy(new Error('connecting took too long')), CONNECT_TIMEOUT_MS);
  const connected = (): void => clearTimeout(timer);
  sent.once('socket', (socket) => {
    if (sent.reusedSocket) connected();
    else socket.once('secureConnect', connected);
  });
  return sent.once('close', connected);
}

function forwardedHeaders({ request, upgrade }: Incoming, user: UserInfo): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined && !NOT_FORWARDED.test(name)) headers[name] = value;
  if (upgrade !== undefined) {
    headers['connection'] = 'Upgrade';
    headers['upgrade'] = request.headers.upgrade;
  }
  headers['x-remote-user'] = user.name;
  headers['x-remote-group'] = [...user.groups];
  for (const [key, values] of Object.entries(user.extra ?? {}))
    headers[`x-remote-extra-${encodeURIComponent(key).toLowerCase()}`] = [...values];
  return headers;
}
