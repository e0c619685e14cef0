import type { CertificateAuthority, PemPair } from '../auth/certificate-authority.ts';
import type { ForwardAnswer } from '../http/answer.ts';
import type { HubRequest, HubResponse } from '../http/transport.ts';
import type { Cluster } from '../rest/cluster.ts';
import type { GroupVersions } from '../scheme/scheme.ts';
import type { UserInfo } from '../write/write-request.ts';
import { aggregatedApis, findAggregatedApi } from './api-services.ts';
import { forwardRequest } from './forward-request.ts';

const IDENTITY_MS = 30 * 86_400_000;
const API_PATH = /^\/apis\/([^/]+)\/([^/]+)(\/|$)/;

/** Passes requests for aggregated APIs on to their servers. */
export class Aggregator {
  readonly #cluster: Pick<Cluster, 'store' | 'scheme' | 'clock'>;
  readonly #authority: CertificateAuthority;
  #identity: { readonly pair: PemPair; readonly renewAtMs: number } | undefined;

  constructor(cluster: Pick<Cluster, 'store' | 'scheme' | 'clock'>, authority: CertificateAuthority) {
    this.#cluster = cluster;
    this.#authority = authority;
  }

  /** Undefined when the hub serves the path itself. @throws StatusError 503 */
  async forward(
    exchange: { readonly request: HubRequest; readonly response: HubResponse },
    path: string,
    user: UserInfo,
  ): Promise<ForwardAnswer | undefined> {
    const match = API_PATH.exec(path);
    if (match === null) return undefined;
    const [group, version] = [match[1] ?? '', match[2] ?? ''];
    const api = findAggregatedApi(this.#cluster.store, group, version);
    if (api === undefined || this.#servesItself(group, version)) return undefined;
    const query = (exchange.request.url ?? '').split('?')[1];
    const target = query === undefined ? path : `${path}?${query}`;
    return forwardRequest(exchange, api, { user, identity: await this.#frontProxy(), path: target });
  }

  /** Groups for the list of API groups; their resources are listed by their own servers. */
  groups(): readonly GroupVersions[] {
    const groups = new Map<string, string[]>();
    for (const { group, version } of aggregatedApis(this.#cluster.store))
      if (!this.#servesItself(group, version)) groups.set(group, [...(groups.get(group) ?? []), version]);
    return [...groups].map(([group, versions]) => ({
      group,
      versions: versions.map((version) => ({ version, resources: [] })),
    }));
  }

  /** No APIService takes away what the hub itself serves. */
  #servesItself(group: string, version: string): boolean {
    const own = this.#cluster.scheme.groups().find((candidate) => candidate.group === group);
    return own?.versions.some((candidate) => candidate.version === version) === true;
  }

  async #frontProxy(): Promise<PemPair> {
    const nowMs = this.#cluster.clock.now();
    if (this.#identity === undefined || Math.abs(this.#identity.renewAtMs - nowMs) > IDENTITY_MS / 2) {
      const subject = { commonName: 'front-proxy', organizations: [] };
      const pair = await this.#authority.issueClient(subject, nowMs, IDENTITY_MS);
      this.#identity = { pair, renewAtMs: nowMs + IDENTITY_MS / 2 };
    }
    return this.#identity.pair;
  }
}
