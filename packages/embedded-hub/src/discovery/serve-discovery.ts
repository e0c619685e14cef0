import { sha256 } from '@berth/runtime/sha256';
import { type ApiResponse, type BodyResponse, jsonResponse } from '../wire/api-response.ts';
import { parseAccept } from '../wire/negotiate.ts';
import { notAcceptable } from '../wire/status-errors.ts';
import type { JsonObject } from '../json/json-value.ts';
import { openApiDocument, openApiIndex } from '../openapi/openapi.ts';
import { swaggerDocument } from '../openapi/v2/swagger-document.ts';
import type { GroupVersions, Scheme } from '../scheme/scheme.ts';
import { compareVersionPriority } from '../schema/resource-definition.ts';
import type { ServedGroup } from './discovery-documents.ts';
import {
  aggregatedDiscovery,
  apiGroup,
  apiGroupList,
  apiResourceList,
  coreVersions,
} from './discovery-documents.ts';

export interface DiscoveryRequest {
  /** Without the prefix of a member cluster. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly accept: string | undefined;
  readonly ifNoneMatch: string | undefined;
  /** `host:port` for clients that ask for the server's address. */
  readonly serverAddress: string;
  /** Groups that other servers serve. */
  readonly aggregated: readonly ServedGroup[];
  /** The prefix of a member cluster, '' on the hub. */
  readonly pathPrefix: string;
}

interface Document {
  readonly text: string;
  readonly etag: string;
  readonly contentType: string;
}

const DOCUMENTS_LIMIT = 500;
const GNOSTIC = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
/** The media type that client-go sends, which is invalid; the response has the valid one. */
const GNOSTIC_AS_REQUESTED = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const CACHE_PERMANENTLY = 'public, max-age=31536000, immutable';

/** Discovery and OpenAPI documents in all formats. They are cached until the scheme changes. */
export class Discovery {
  readonly #scheme: Scheme;
  readonly #documents = new Map<string, Document>();
  #revision = -1;

  constructor(scheme: Scheme) {
    this.#scheme = scheme;
  }

  /** Undefined for other paths. */
  serve(request: DiscoveryRequest): ApiResponse | undefined {
    const path = request.path.replace(/\/$/, '');
    if (path === '/openapi/v2') return this.#swagger(request);
    if (path.startsWith('/openapi/v3')) return this.#openApi(path, request);
    const others = request.aggregated;
    const aggregated = aggregatedVersion(path, request.accept);
    const key = `${path} ${aggregated ?? ''} ${others.length > 0 ? JSON.stringify(others) : ''}`;
    const document = this.#document(key, () => {
      const body = this.#body(path, aggregated, request);
      const contentType =
        aggregated === undefined
          ? 'application/json'
          : `application/json;g=apidiscovery.k8s.io;v=${aggregated};as=APIGroupDiscoveryList`;
      return body === undefined ? undefined : { text: JSON.stringify(body), contentType };
    });
    return document === undefined ? undefined : conditional(document, request.ifNoneMatch);
  }

  #body(
    path: string,
    aggregated: 'v2' | 'v2beta1' | undefined,
    request: DiscoveryRequest,
  ): JsonObject | undefined {
    const groups = withOthers(this.#scheme.groups(), request.aggregated);
    const named = groups.filter(({ group }) => group !== '');
    const core = groups.filter(({ group }) => group === '');
    if (path === '/api')
      return aggregated === undefined
        ? coreVersions(request.serverAddress)
        : aggregatedDiscovery(core, aggregated);
    if (path === '/apis')
      return aggregated === undefined ? apiGroupList(named) : aggregatedDiscovery(named, aggregated);
    const [, root, ...parts] = path.split('/');
    const [groupName = '', versionName] = root === 'api' ? ['', ...parts] : parts;
    if ((root !== 'api' && root !== 'apis') || parts.length > (root === 'api' ? 1 : 2)) return undefined;
    const group = groups.find((candidate) => candidate.group === groupName);
    if (group === undefined) return undefined;
    if (versionName === undefined) return apiGroup(group);
    const resources = group.versions.find(({ version }) => version === versionName);
    return resources === undefined ? undefined : apiResourceList(group.group, resources);
  }

  #openApi(path: string, request: DiscoveryRequest): ApiResponse | undefined {
    if (path === '/openapi/v3') {
      const others = remotePaths(request.aggregated);
      const document = this.#document(`${path} ${request.pathPrefix} ${JSON.stringify(others)}`, () => ({
        text: JSON.stringify(prefixed(openApiIndex(this.#scheme, others).body, request.pathPrefix)),
        contentType: 'application/json',
      }));
      return document === undefined ? undefined : conditional(document, request.ifNoneMatch);
    }
    const found = openApiDocument(this.#scheme, path.slice('/openapi/v3/'.length));
    if (found === undefined) return undefined;
    const { text, hash } = found;
    const requestedHash = request.query.get('hash') ?? '';
    // A URL with the hash of the content can be cached permanently; one with an old hash is
    // redirected.
    if (requestedHash !== '' && requestedHash !== hash)
      return jsonResponse(301, '', { location: `${request.pathPrefix}${path}?hash=${hash}` });
    const response = conditional(
      { text, etag: `"${hash}"`, contentType: 'application/json' },
      request.ifNoneMatch,
    );
    return requestedHash === ''
      ? response
      : { ...response, headers: { ...response.headers, 'cache-control': CACHE_PERMANENTLY } };
  }

  /**
   * One document in two forms. Source: kube-openapi pkg/handler/handler.go.
   * @throws StatusError 406
   */
  #swagger({ accept, ifNoneMatch }: DiscoveryRequest): ApiResponse {
    const form = swaggerForm(accept);
    const document = swaggerDocument(this.#scheme);
    const { etag } = document;
    if (form === 'json')
      return conditional({ text: document.json, etag, contentType: 'application/json' }, ifNoneMatch);
    const response = conditional({ text: '', etag, contentType: GNOSTIC }, ifNoneMatch);
    return response.code === 304 ? response : { ...response, body: document.protobuf };
  }

  #document(key: string, make: () => Omit<Document, 'etag'> | undefined): Document | undefined {
    // Documents of other servers may change at any time.
    if (this.#revision !== this.#scheme.revision || this.#documents.size > DOCUMENTS_LIMIT) {
      this.#documents.clear();
      this.#revision = this.#scheme.revision;
    }
    const cached = this.#documents.get(key);
    if (cached !== undefined) return cached;
    const content = make();
    if (content === undefined) return undefined;
    // The ETag depends on the content only, so that caches of clients stay valid over restarts.
    const hash = sha256(content.text).toUpperCase();
    const document = { ...content, etag: `"${hash}"` };
    this.#documents.set(key, document);
    return document;
  }
}

/** Merges the lists: a group may have versions of the hub and of other servers. */
function withOthers(own: readonly GroupVersions[], others: readonly ServedGroup[]): readonly ServedGroup[] {
  const merged = own.map(({ group, versions }): ServedGroup => {
    const more = others.find((other) => other.group === group)?.versions ?? [];
    const all = [...versions, ...more].sort((a, b) => compareVersionPriority(a.version, b.version));
    return more.length === 0 ? { group, versions } : { group, versions: all };
  });
  const names = new Set(own.map(({ group }) => group));
  return [...merged, ...others.filter(({ group }) => !names.has(group))];
}

/** Paths of the OpenAPI documents of other servers, for which the hub forwards requests. */
function remotePaths(others: readonly ServedGroup[]): Readonly<Record<string, string>> {
  const paths = others.flatMap(({ group, versions }) =>
    versions.map(({ version, remote }): [string, string] => [
      `apis/${group}/${version}`,
      remote?.openApiUrl ?? '',
    ]),
  );
  return Object.fromEntries(paths.filter(([, url]) => url !== ''));
}

function aggregatedVersion(path: string, accept: string | undefined): 'v2' | 'v2beta1' | undefined {
  if (path !== '/api' && path !== '/apis') return undefined;
  for (const { type, parameters } of parseAccept(accept)) {
    if (type !== 'application/json') continue;
    if (parameters.get('as') === undefined) return undefined;
    const version = parameters.get('v');
    const aggregated =
      parameters.get('g') === 'apidiscovery.k8s.io' && parameters.get('as') === 'APIGroupDiscoveryList';
    if (aggregated && (version === 'v2' || version === 'v2beta1')) return version;
  }
  return undefined;
}

function swaggerForm(accept: string | undefined): 'json' | 'protobuf' {
  for (const { type } of parseAccept(accept)) {
    if (type === '*/*' || type === 'application/*' || type === 'application/json') return 'json';
    if (type === GNOSTIC || type === GNOSTIC_AS_REQUESTED) return 'protobuf';
  }
  throw notAcceptable(['application/json', GNOSTIC]);
}

function conditional(document: Document, ifNoneMatch: string | undefined): BodyResponse {
  const headers = { etag: document.etag, vary: 'Accept' };
  if (ifNoneMatch?.split(/,\s*/).includes(document.etag) === true)
    return { ...jsonResponse(304, '', headers), contentType: document.contentType };
  return { ...jsonResponse(200, document.text, headers), contentType: document.contentType };
}

/** A member's documents are below its own prefix. */
function prefixed(index: JsonObject, prefix: string): JsonObject {
  if (prefix === '') return index;
  const paths = Object.entries((index['paths'] ?? {}) as Record<string, { serverRelativeURL: string }>);
  return {
    ...index,
    paths: Object.fromEntries(
      paths.map(([path, { serverRelativeURL }]) => [
        path,
        { serverRelativeURL: `${prefix}${serverRelativeURL}` },
      ]),
    ),
  };
}
