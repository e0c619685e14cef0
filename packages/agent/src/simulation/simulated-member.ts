import { ConflictError, errorText, InputError } from '@berth/runtime/errors';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Condition } from '@berth/kube/model/object-meta';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import { setCondition } from '@berth/kube/model/condition-list';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { CLUSTER_CONDITIONS } from '@berth/ocm/registration/cluster-conditions';
import { leaseSeconds, UNREACHABLE_TAINT } from '@berth/ocm/registration/names';
import { sleep } from '@berth/runtime/loop/sleep';
import { ClusterLease } from '../registration/session/keep-lease.ts';
import { type Agent, startAgent } from '../start-agent.ts';
import { registerMember } from './register-member.ts';
import { SIMULATE_ANNOTATION } from './simulation-options.ts';

export interface SimulatedMemberOptions {
  readonly name: string;
  readonly hub: KubeApi;
  readonly cluster: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * A member cluster as its hub sees it: registered, with an agent that applies works and renews the lease if the hub has
 * one. While its ManagedCluster has the annotation `berth.dev/simulate: unreachable`, it is cut off: it has no agent,
 * its lease is not renewed, its availability is Unknown, and it has the taint of an unreachable cluster.
 */
export class SimulatedMember {
  readonly #options: SimulatedMemberOptions;
  #agent: Agent | undefined;
  #leaseSeconds = 0;
  /** Stops renewing the lease. */
  #stopRenewing: (() => Promise<void>) | undefined;
  #last: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: SimulatedMemberOptions) {
    this.#options = options;
  }

  /** Registers the cluster on the hub unless it exists. */
  async register(): Promise<void> {
    await registerMember(this.#options.hub, this.#options.name);
  }

  /** Handles a new version of the ManagedCluster. Changes are handled in order. */
  follow(cluster: ManagedCluster): Promise<void> {
    this.#last = this.#last.then(() => this.#apply(cluster));
    return this.#last;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#last;
    await this.#stop();
  }

  #start(): void {
    const { name: clusterName, hub, cluster, clock, log } = this.#options;
    this.#agent ??= startAgent({ hub, cluster, clusterName, clock, log });
    if (this.#stopRenewing !== undefined) return;
    const stop = new AbortController();
    const renewing = this.#renew(stop.signal);
    this.#stopRenewing = () => {
      stop.abort();
      return renewing;
    };
  }

  async #stop(): Promise<void> {
    await Promise.all([this.#stopRenewing?.(), this.#agent?.close()]);
    this.#stopRenewing = undefined;
    this.#agent = undefined;
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const { name, hub, clock, log } = this.#options;
    const lease = new ClusterLease(hub, name, clock);
    while (!signal.aborted) {
      try {
        await lease.renew();
      } catch (error) {
        // Most hubs of simulated members watch no leases, and create none.
        log.debug('lease of a simulated member is not renewed', { name, problem: errorText(error) });
      }
      await sleep(clock, this.#leaseSeconds * 1_000, signal);
    }
  }

  async #apply(managed: ManagedCluster): Promise<void> {
    if (this.#closed) return;
    const reachable = managed.metadata.annotations?.[SIMULATE_ANNOTATION] !== 'unreachable';
    const { name: clusterName, log } = this.#options;
    this.#leaseSeconds = leaseSeconds(managed.spec?.leaseDurationSeconds);
    if (reachable) this.#start();
    else await this.#stop();
    try {
      await this.#report(managed, reachable);
    } catch (error) {
      // It was changed or deleted: a watch event follows.
      if (error instanceof ConflictError || error instanceof InputError) return;
      log.warn('the state of a simulated member cannot be written', {
        clusterName,
        problem: errorText(error),
      });
    }
  }

  async #report(managed: ManagedCluster, reachable: boolean): Promise<void> {
    const { hub, clock } = this.#options;
    const { name, uid, resourceVersion } = managed.metadata;
    const key = { namespace: '', name };
    const now = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
    const before = managed.status?.conditions ?? [];
    const conditions = conditionsOf(reachable).reduce<readonly Condition[]>(
      (list, condition) => setCondition(list, condition, now),
      before,
    );
    if (!jsonEqual(conditions, before))
      await hub.mergePatch(
        MANAGED_CLUSTER,
        key,
        { metadata: { uid, resourceVersion }, status: { conditions } },
        {
          subresource: 'status',
        },
      );
    const taints = managed.spec?.taints ?? [];
    const others = taints.filter((taint) => taint.key !== UNREACHABLE_TAINT);
    const wanted = reachable ? others : [...others, { key: UNREACHABLE_TAINT, effect: 'NoSelect' }];
    if (wanted.length !== taints.length)
      await hub.mergePatch(MANAGED_CLUSTER, key, { metadata: { uid }, spec: { taints: wanted } });
  }
}

function conditionsOf(reachable: boolean): readonly Condition[] {
  const { accepted, joined, available, leaseStopped } = CLUSTER_CONDITIONS;
  return [accepted, joined, reachable ? available : leaseStopped];
}
