import type { Clock } from '@berth/runtime/clock/clock';
import type { RemoteDocuments } from '../discovery/discovery-documents.ts';
import type { PemPair } from '@berth/kube/x509/pem-pair';
import type { JsonObject } from '../json/json-value.ts';
import { isObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import type { AggregatedApi } from './api-services.ts';
import { fetchFromServer } from './server-connection.ts';

const FRESH_MS = 60_000;

interface CachedDocuments {
  /** The address in the APIService; another address is another server. */
  readonly server: string;
  readonly documents: RemoteDocuments;
  readonly fetchedAtMs: number;
}

const NOTHING: RemoteDocuments = { resources: [], openApiUrl: '', current: false };

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
    if (isSame && Math.abs(this.#clock.now() - cached.fetchedAtMs) < FRESH_MS)
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
    return cached?.server === server ? cached.documents : NOTHING;
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
