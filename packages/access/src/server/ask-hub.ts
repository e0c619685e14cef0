import { CONFIG_MAP, MANAGED_CLUSTER, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { reviewToken, type TokenUser } from '@berth/kube/review-token';
import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import { sha256 } from '@berth/runtime/sha256';
import { CLUSTER_PROXY } from '../addon/cluster-proxy.ts';
import { type ExposedService, parseExposedServices } from '../rules/exposed-services.ts';

/** Asks the hub whose token it is, and remembers the answer for ten seconds. Tokens are kept as hashes. */
export class Callers {
  readonly #hub: KubeApi;
  readonly #known: KeptAnswers<TokenUser | undefined>;

  constructor(hub: KubeApi, clock: Clock) {
    this.#hub = hub;
    this.#known = new KeptAnswers(clock);
  }

  /**
   * @returns undefined if the token is none of the hub
   * @throws the errors of the API
   */
  identify(token: string): Promise<TokenUser | undefined> {
    return this.#known.get(sha256(token), () => reviewToken(this.#hub, token));
  }
}

/**
 * Which clusters may be reached at all: accepted, with the add-on, and neither is being deleted. The certificate of an agent outlives
 * these by up to a day, so they are asked for, every ten seconds.
 */
export class ServedClusters {
  readonly #hub: KubeApi;
  readonly #known: KeptAnswers<string | undefined>;

  constructor(hub: KubeApi, clock: Clock) {
    this.#hub = hub;
    this.#known = new KeptAnswers(clock);
  }

  /**
   * @returns why the cluster is not reached; undefined: it is
   * @throws the errors of the API
   */
  problemWith(cluster: string): Promise<string | undefined> {
    return this.#known.get(cluster, () => this.#ask(cluster));
  }

  async #ask(cluster: string): Promise<string | undefined> {
    const found = await this.#hub.get(MANAGED_CLUSTER, { namespace: '', name: cluster });
    const { hubAcceptsClient } = (found?.['spec'] ?? {}) as { readonly hubAcceptsClient?: boolean };
    if (found === undefined) return `the hub has no cluster "${cluster}"`;
    if (hubAcceptsClient !== true) return `cluster "${cluster}" is not accepted by the hub`;
    if (found.metadata.deletionTimestamp !== undefined) return `cluster "${cluster}" is being deleted`;
    const addOn = await this.#hub.get(MANAGED_CLUSTER_ADDON, { namespace: cluster, name: CLUSTER_PROXY });
    return addOn === undefined || addOn.metadata.deletionTimestamp !== undefined
      ? `cluster "${cluster}" does not have the add-on ${CLUSTER_PROXY}`
      : undefined;
  }
}

/** Under OCM's name, beside the ConfigMap for users. */
export const EXPOSED_SERVICES = 'cluster-proxy-exposed-services';

/** Which services of clusters are exposed: as a ConfigMap says, which is asked for every ten seconds. Without it, none is. */
export class ExposedServices {
  readonly #hub: KubeApi;
  readonly #namespace: string;
  readonly #log: Logger;
  readonly #known: KeptAnswers<readonly ExposedService[]>;

  constructor(
    hub: KubeApi,
    namespace: string,
    { clock, log }: { readonly clock: Clock; readonly log: Logger },
  ) {
    this.#hub = hub;
    this.#namespace = namespace;
    this.#log = log;
    this.#known = new KeptAnswers(clock);
  }

  /** @throws the errors of the API */
  list(): Promise<readonly ExposedService[]> {
    return this.#known.get('', async () => {
      const key = { namespace: this.#namespace, name: EXPOSED_SERVICES };
      const configMap = await this.#hub.get(CONFIG_MAP, key);
      const data = (configMap?.['data'] ?? {}) as Readonly<Record<string, string>>;
      const { exposed, problems } = parseExposedServices(data);
      for (const problem of problems)
        this.#log.warn('a list of exposed services is ignored', {
          ...{ ConfigMap: `${key.namespace}/${key.name}`, problem },
        });
      return exposed;
    });
  }
}

/** As cluster-proxy keeps reviews of tokens. */
const KEPT_MS = 10_000;
/** More are forgotten, the oldest first: callers choose the keys. */
const MOST_KEPT = 10_000;

/** Answers of the hub by key, each for ten seconds. A failure is no answer. */
export class KeptAnswers<T> {
  readonly #clock: Clock;
  /** In the order of asking. */
  readonly #known = new Map<string, { readonly untilMs: number; readonly answer: Promise<T> }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws what `ask` throws */
  get(key: string, ask: () => Promise<T>): Promise<T> {
    const nowMs = this.#clock.now();
    const known = this.#known.get(key);
    if (known !== undefined && known.untilMs > nowMs) return known.answer;
    this.#known.delete(key);
    this.#forget(nowMs);
    const asked = { untilMs: nowMs + KEPT_MS, answer: ask() };
    this.#known.set(key, asked);
    asked.answer.catch(() => {
      if (this.#known.get(key) === asked) this.#known.delete(key);
    });
    return asked.answer;
  }

  /** Those that are over; and the oldest, when there are too many. */
  #forget(nowMs: number): void {
    for (const [key, { untilMs }] of this.#known) {
      if (untilMs > nowMs && this.#known.size < MOST_KEPT) return;
      this.#known.delete(key);
    }
  }
}
