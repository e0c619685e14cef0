import type { CertificateAuthority } from '../auth/certificates/certificate-authority.ts';
import type { ForwardedResponse } from '../wire/api-response.ts';
import type { HubRequest, HubResponse } from '../wire/hub-request.ts';
import type { Cluster } from '../request/cluster.ts';
import type { ServedGroup, ServedVersion } from '../discovery/discovery-documents.ts';
import { compareVersionPriority } from '../scheme/version-priority.ts';
import type { UserInfo } from '../wire/user-info.ts';
import { aggregatedApis, findAggregatedApi } from './api-services.ts';
import { forwardRequest } from './forward-request.ts';
import { FrontProxyIdentity } from './front-proxy-identity.ts';
import { RemoteDiscovery } from './remote-discovery.ts';

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
  async forward(
    exchange: { readonly request: HubRequest; readonly response: HubResponse },
    path: string,
    user: UserInfo,
  ): Promise<ForwardedResponse | undefined> {
    const match = API_PATH.exec(path);
    if (match === null) return undefined;
    const [group, version] = [match[1] ?? '', match[2] ?? ''];
    const api = findAggregatedApi(this.#cluster.store, group, version);
    if (api === undefined || this.#servesItself(group, version)) return undefined;
    const { url = '' } = exchange.request;
    const queryStart = url.indexOf('?');
    const target = queryStart < 0 ? path : path + url.slice(queryStart);
    return forwardRequest(exchange, api, { user, identity: await this.#identity.current(), path: target });
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
