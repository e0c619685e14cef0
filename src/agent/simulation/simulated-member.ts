import { ConflictError, errorText, InputError } from '../../core/errors.ts';
import { MANAGED_CLUSTER } from '../../core/model/kinds.ts';
import type { ManagedCluster } from '../../core/model/kind/managed-cluster.ts';
import type { Condition } from '../../core/model/object-meta.ts';
import type { Clock, KubeApi, Logger } from '../../core/ports.ts';
import { setCondition } from '../../core/work/conditions/condition-list.ts';
import { jsonEqual } from '../../core/model/json-equal.ts';
import { type Agent, startAgent } from '../start-agent.ts';
import { registerMember } from './register-member.ts';
import { SIMULATE_ANNOTATION } from '../../core/simulation/simulation-options.ts';

export interface SimulatedMemberOptions {
  readonly name: string;
  readonly hub: KubeApi;
  readonly cluster: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What OCM's hub puts on a cluster whose agent went silent. */
const UNREACHABLE_TAINT = 'cluster.open-cluster-management.io/unreachable';

/**
 * A member cluster as its hub sees it: registered, with an agent that applies works. While its ManagedCluster has the annotation
 * `berth.dev/simulate: unreachable` it is cut off: no agent, availability Unknown, the taint of an unreachable cluster.
 */
export class SimulatedMember {
  readonly #options: SimulatedMemberOptions;
  #agent: Agent | undefined;
  #last: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: SimulatedMemberOptions) {
    this.#options = options;
  }

  /** Registers the cluster on the hub, unless somebody did. */
  async register(): Promise<void> {
    await registerMember(this.#options.hub, this.#options.name);
  }

  /** The current ManagedCluster; changes are handled in order. */
  follow(cluster: ManagedCluster): Promise<void> {
    this.#last = this.#last.then(() => this.#apply(cluster));
    return this.#last;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#last;
    await this.#agent?.close();
  }

  async #apply(managed: ManagedCluster): Promise<void> {
    if (this.#closed) return;
    const reachable = managed.metadata.annotations?.[SIMULATE_ANNOTATION] !== 'unreachable';
    const { name: clusterName, hub, cluster, clock, log } = this.#options;
    if (reachable) this.#agent ??= startAgent({ hub, cluster, clusterName, clock, log });
    else {
      await this.#agent?.close();
      this.#agent = undefined;
    }
    try {
      await this.#report(managed, reachable);
    } catch (error) {
      // It changed or went: the watch brings the next look.
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
  return [
    {
      type: 'HubAcceptedManagedCluster',
      status: 'True',
      reason: 'HubClusterAdminAccepted',
      message: 'Accepted by hub cluster admin',
    },
    {
      type: 'ManagedClusterJoined',
      status: 'True',
      reason: 'ManagedClusterJoined',
      message: 'Managed cluster joined',
    },
    reachable
      ? {
          type: 'ManagedClusterConditionAvailable',
          status: 'True',
          reason: 'ManagedClusterAvailable',
          message: 'Managed cluster is available',
        }
      : {
          type: 'ManagedClusterConditionAvailable',
          status: 'Unknown',
          reason: 'ManagedClusterLeaseUpdateStopped',
          message: 'Registration agent stopped updating its lease.',
        },
  ];
}
