import { Reflector } from '@berth/kube/cache/reflector';
import type { KubeConfig } from '@berth/kube/config/kube-config';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { createIfAbsent, retryOnConflict } from '@berth/kube/create-if-absent';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { setCondition } from '@berth/kube/model/condition-list';
import { MANAGED_CLUSTER, type KindInfo, MANAGED_CLUSTER_SET, NAMESPACE } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject, Condition } from '@berth/kube/model/object-meta';
import { RenewedLease } from '@berth/kube/renewed-lease';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { CLUSTER_CONDITIONS } from '@berth/ocm/registration/cluster-conditions';
import { DEFAULT_SETS, planDefaultSet } from '@berth/ocm/registration/default-sets';
import { CLUSTER_LEASE, leaseSeconds, UNREACHABLE_TAINT } from '@berth/ocm/registration/names';
import type { MonotonicClock } from '@berth/runtime/clock/clock';
import { ConflictError, errorText, InputError } from '@berth/runtime/errors';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { Logger } from '@berth/runtime/logger';
import { sleep } from '@berth/runtime/loop/sleep';
import { type Agent, startAgent } from '../start-agent.ts';
import { runMemberAddons } from './member-addons.ts';
import { SIMULATE_ANNOTATION } from './simulation-options.ts';
import { startWorkloadSimulation } from './workload-simulation.ts';

export interface MembersOptions {
  /** A running embedded hub. */
  readonly hub: {
    readonly adminKubeconfigPath: string;
    memberKubeconfigPath(name: string): string;
  };
  readonly names: readonly string[];
  /** Register the members on the hub and run an agent for each. Otherwise only their workloads are simulated. */
  readonly agents: boolean;
  readonly clock: MonotonicClock;
  readonly log: Logger;
  readonly readyAfterMs?: number;
}

export interface RunningMembers {
  /** A client of each member, until `close`. */
  readonly clusters: readonly KubeApi[];
  close(): Promise<void>;
}

/** Runs the agents and workloads of an embedded hub's member clusters in this process. */
export async function startMembers(options: MembersOptions): Promise<RunningMembers> {
  const { names, clock, log, readyAfterMs = 1_000 } = options;
  const closers: (() => Promise<void> | void)[] = [];
  const open = (config: KubeConfig, maxRequests: number): HttpKubeApi => {
    const api = new HttpKubeApi({ config, clock, maxRequests, userAgent: 'berth-member' });
    closers.push(() => api.close());
    return api;
  };
  const clusters = new Map<string, HttpKubeApi>();
  for (const name of names) {
    const cluster = open(loadKubeConfig({ file: options.hub.memberKubeconfigPath(name) }), 4);
    clusters.set(name, cluster);
    const simulation = startWorkloadSimulation({ cluster, clock, log, readyAfterMs });
    closers.push(() => simulation.close());
  }
  if (options.agents) {
    const hubConfig = loadKubeConfig({ file: options.hub.adminKubeconfigPath });
    closers.push(await startAgents({ hub: open(hubConfig, 32), hubConfig }, clusters, options));
  }
  return {
    clusters: [...clusters.values()],
    close: async () => {
      for (const close of closers.reverse()) await close();
    },
  };
}

async function startAgents(
  { hub, hubConfig }: Pick<SimulatedMemberOptions, 'hub' | 'hubConfig'>,
  clusters: ReadonlyMap<string, HttpKubeApi>,
  { clock, log }: MembersOptions,
): Promise<() => Promise<void>> {
  await registerDefaultSets(hub);
  const members = new Map<string, SimulatedMember>();
  for (const [name, cluster] of clusters) {
    const member = new SimulatedMember({ name, hub, hubConfig, cluster, clock, log });
    await member.register();
    members.set(name, member);
  }
  const stop = new AbortController();
  const reflector = new Reflector({ api: hub, kind: MANAGED_CLUSTER, clock, log, random: Math.random });
  reflector.store.onChange(({ after }) => {
    if (after !== undefined)
      void members.get(after.metadata.name)?.follow(after as unknown as ManagedCluster);
  });
  const running = reflector.run(stop.signal);
  return async () => {
    stop.abort();
    await running;
    for (const member of members.values()) await member.close();
  };
}

/** The used fields of a meta/v1 ManagedFieldsEntry. */
interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
}

/** Registers a simulated cluster on the hub unless it exists: accepted, in the set `default`. */
export async function registerMember(hub: KubeApi, name: string): Promise<void> {
  await createIfAbsent(hub, NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await createGivenUp(hub, MANAGED_CLUSTER, {
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata: { name, labels: { 'cluster.open-cluster-management.io/clusterset': 'default' } },
    spec: { hubAcceptsClient: true, leaseDurationSeconds: 60 },
  });
}

/** Creates the sets that every hub of OCM has, unless they exist. */
async function registerDefaultSets(hub: KubeApi): Promise<void> {
  for (const name of DEFAULT_SETS.keys()) {
    const plan = planDefaultSet(name, undefined);
    if (plan?.kind === 'create')
      await createGivenUp(hub, MANAGED_CLUSTER_SET, plan.set as unknown as KubeObject);
  }
}

const MANAGER = 'berth-member';

const REGISTERED_BY_ANNOTATION = 'berth.dev/registered-by';

/**
 * Creates an object without a namespace unless it exists. Its fields are only defaults, so the
 * registration does not keep ownership of them, and Git can declare other values without force.
 */
async function createGivenUp(hub: KubeApi, kind: KindInfo, defaults: KubeObject): Promise<void> {
  const { metadata } = defaults;
  const marked = {
    ...defaults,
    metadata: { ...metadata, annotations: { [REGISTERED_BY_ANNOTATION]: MANAGER } },
  };
  return retryOnConflict(async () => {
    const object =
      (await hub.get(kind, { namespace: '', name: metadata.name })) ??
      (await hub.create(kind, marked, { fieldManager: MANAGER }));
    await giveUpFields(hub, kind, object);
  });
}

/**
 * The registration keeps only ownership of its annotation: without any managedFields entry, a
 * server would assign all fields to an owner.
 */
async function giveUpFields(hub: KubeApi, kind: KindInfo, { metadata }: KubeObject): Promise<void> {
  const entries = (metadata.managedFields ?? []) as readonly ManagedFields[];
  const kept = { 'f:metadata': { 'f:annotations': { [`f:${REGISTERED_BY_ANNOTATION}`]: {} } } };
  const next = entries.map((entry) =>
    entry.manager === MANAGER && entry.operation === 'Update' && (entry.subresource ?? '') === ''
      ? { ...entry, fieldsV1: kept }
      : entry,
  );
  if (JSON.stringify(next) === JSON.stringify(entries)) return;
  const { name, uid, resourceVersion } = metadata;
  const patch = { metadata: { uid, resourceVersion, managedFields: next } };
  await hub.mergePatch(kind, { namespace: '', name }, patch, { fieldManager: MANAGER });
}

interface SimulatedMemberOptions {
  readonly name: string;
  readonly hub: KubeApi;
  readonly hubConfig: KubeConfig;
  readonly cluster: KubeApi;
  readonly clock: MonotonicClock;
  readonly log: Logger;
}

/**
 * A member cluster as its hub sees it: registered, with an agent that applies works, gives add-ons their credentials, and
 * renews the lease if the hub has one. While its ManagedCluster has the annotation `berth.dev/simulate: unreachable`, it is cut off: it has no agent,
 * its lease is not renewed, its availability is Unknown, and it has the taint of an unreachable cluster.
 */
export class SimulatedMember {
  readonly #options: SimulatedMemberOptions;
  #agent: Agent | undefined;
  #leaseSeconds = 0;
  /** Stops renewing the lease, and what add-ons get. */
  #stopLoops: (() => Promise<unknown>) | undefined;
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
    const { name: clusterName, hub, hubConfig, cluster, clock, log } = this.#options;
    this.#agent ??= startAgent({ hub, cluster, clusterName, clock, log });
    if (this.#stopLoops !== undefined) return;
    const stop = new AbortController();
    const addons = { hub, hubConfig, cluster, clusterName, clock, log };
    const loops = [this.#renew(stop.signal), runMemberAddons(addons, stop.signal)];
    this.#stopLoops = () => {
      stop.abort();
      return Promise.all(loops);
    };
  }

  async #stop(): Promise<void> {
    await Promise.all([this.#stopLoops?.(), this.#agent?.close()]);
    this.#stopLoops = undefined;
    this.#agent = undefined;
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const { name, hub, clock, log } = this.#options;
    const lease = new RenewedLease(hub, { namespace: name, name: CLUSTER_LEASE }, { clock });
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
