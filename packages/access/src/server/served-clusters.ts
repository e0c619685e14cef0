import { MANAGED_CLUSTER, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Clock } from '@berth/runtime/clock/clock';
import { CLUSTER_PROXY } from '../addon/cluster-proxy.ts';

const KEPT_MS = 10_000;

/**
 * Which clusters may be reached at all: accepted, with the add-on, and neither is being deleted. The certificate of an agent outlives
 * these by up to a day, so they are asked for, every ten seconds.
 */
export class ServedClusters {
  readonly #hub: KubeApi;
  readonly #clock: Clock;
  readonly #known = new Map<
    string,
    { readonly untilMs: number; readonly problem: Promise<string | undefined> }
  >();

  constructor(hub: KubeApi, clock: Clock) {
    this.#hub = hub;
    this.#clock = clock;
  }

  /**
   * @returns why the cluster is not reached; undefined: it is
   * @throws the errors of the API
   */
  problemWith(cluster: string): Promise<string | undefined> {
    const nowMs = this.#clock.now();
    const known = this.#known.get(cluster);
    if (known !== undefined && known.untilMs > nowMs) return known.problem;
    for (const [name, { untilMs }] of this.#known) if (untilMs <= nowMs) this.#known.delete(name);
    const problem = this.#ask(cluster);
    this.#known.set(cluster, { untilMs: nowMs + KEPT_MS, problem });
    problem.catch(() => this.#known.delete(cluster));
    return problem;
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
