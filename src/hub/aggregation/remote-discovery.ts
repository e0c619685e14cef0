import type { Clock } from '../../core/ports.ts';
import type { PemPair } from '../auth/certificate-authority.ts';
import type { JsonObject } from '../json/json-value.ts';
import { isObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import type { AggregatedApi } from './api-services.ts';
import { askServer } from './server-connection.ts';

const FRESH_MS = 60_000;

/** What the server of an aggregated API serves. */
export interface RemoteDocuments {
  /** Entries of aggregated discovery. */
  readonly resources: readonly JsonObject[];
  /** Address of its OpenAPI document, hash included; '' when it has none. */
  readonly openApiUrl: string;
  /** false: the server did not answer, and this is what it said before. */
  readonly current: boolean;
}

interface Known {
  readonly documents: RemoteDocuments;
  readonly askedAtMs: number;
}

const NOTHING: RemoteDocuments = { resources: [], openApiUrl: '', current: false };

/**
 * Asks the servers of aggregated APIs what they serve, at most once a minute each. Only the first who wants to know waits; later
 * ones get what is known while it is asked for again, so that a slow server slows nobody down.
 */
export class RemoteDiscovery {
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();
  readonly #asking = new Map<string, Promise<RemoteDocuments>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  documentsOf(api: AggregatedApi, identity: () => Promise<PemPair>): Promise<RemoteDocuments> {
    // A changed APIService is another server.
    const key = JSON.stringify(api);
    const known = this.#known.get(key);
    const fresh = known !== undefined && Math.abs(this.#clock.now() - known.askedAtMs) < FRESH_MS;
    const asked = fresh ? undefined : (this.#asking.get(key) ?? this.#ask(key, api, identity));
    return known === undefined ? (asked as Promise<RemoteDocuments>) : Promise.resolve(known.documents);
  }

  #ask(key: string, api: AggregatedApi, identity: () => Promise<PemPair>): Promise<RemoteDocuments> {
    const asked = this.#fetch(api, identity)
      .catch(() => ({ ...(this.#known.get(key)?.documents ?? NOTHING), current: false }))
      .then((documents) => {
        for (const other of this.#known.keys())
          if ((JSON.parse(other) as AggregatedApi).name === api.name) this.#known.delete(other);
        this.#known.set(key, { documents, askedAtMs: this.#clock.now() });
        this.#asking.delete(key);
        return documents;
      });
    this.#asking.set(key, asked);
    return asked;
  }

  async #fetch(api: AggregatedApi, identity: () => Promise<PemPair>): Promise<RemoteDocuments> {
    const own = await identity();
    const path = `apis/${api.group}/${api.version}`;
    const [list, index] = await Promise.all([
      askServer(api, own, `/${path}`),
      // Servers without OpenAPI v3 are served all the same; clients then do without their schemas.
      askServer(api, own, '/openapi/v3').catch((): JsonObject => ({})),
    ]);
    const openApiUrl = textAt(objectAt(objectAt(index, 'paths'), path), 'serverRelativeURL');
    return {
      resources: aggregatedResources(list, api),
      openApiUrl: openApiUrl.startsWith(`/openapi/v3/${path}`) ? openApiUrl : '',
      current: true,
    };
  }
}

/** An APIResourceList in the words of aggregated discovery: subresources below their resources. */
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
