import { InputError } from '@berth/runtime/errors';
import { apiVersionOf, LEASE, MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { formatMicroTime, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { CLUSTER_CONDITIONS } from '@berth/ocm/registration/cluster-conditions';
import {
  continuePresence,
  graceMs,
  type HubPresence,
  isKnownSilent,
  judgeClock,
  judgeLease,
  type ObservedLease,
  observeLease,
  type OverdueLease,
  overdueMs,
  PRESENCE_CHECK_INTERVAL_MS,
} from '../../core/registration/health/judge-lease.ts';
import { CLUSTER_LEASE, CLUSTER_NAME_LABEL, REGISTRATION_MANAGER } from '@berth/ocm/registration/names';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import { sleep } from '@berth/runtime/loop/sleep';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import { CachedController } from '@berth/kube/controller/cached-controller';
import { type RegistrationOptions, reportEvent, writeConditions } from './registration-options.ts';

/** Creates the lease of each cluster, and reports when an agent does not renew it. */
export class LeaseController extends CachedController<RegistrationOptions> {
  readonly name = 'health';
  readonly #clusters = this.read(MANAGED_CLUSTER);
  readonly #leases = this.read(LEASE);
  readonly #seen = new Map<string, ObservedLease>();
  #presence: HubPresence | undefined;

  constructor(options: RegistrationOptions) {
    super(options);
    // From the start, also while another process leads: renewals that were seen then count.
    for (const lease of this.#leases.store.list()) this.#observe(lease);
    this.#leases.store.onChange(({ key, after }) => {
      if (after === undefined) this.#seen.delete(key);
      else this.#observe(after);
    });
  }

  follow(queue: WorkQueue): void {
    for (const { metadata } of this.#clusters.store.list()) queue.add(metadata.name);
    this.#clusters.store.onChange(({ key, after }) => {
      if (after !== undefined) queue.add(key);
    });
    this.#leases.store.onChange(({ before, after }) => {
      const { name, namespace } = (after ?? before)?.metadata ?? {};
      if (name === CLUSTER_LEASE && namespace !== undefined) queue.add(namespace);
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#checkPresence();
      await sleep(this.options.clock, PRESENCE_CHECK_INTERVAL_MS, signal);
    }
  }

  async reconcile(name: string): Promise<ReconcileOutcome> {
    const cluster = this.#clusters.store.get(name) as ManagedCluster | undefined;
    if (cluster === undefined) return DONE;
    this.#checkPresence();
    const nowMs = this.options.clock.monotonicMs();
    const seen = this.#seen.get(leaseKey(name));
    const verdict = judgeLease(cluster, seen, this.#presence, nowMs);
    const clock = judgeClock(cluster, seen, this.#presence, nowMs);
    switch (verdict.kind) {
      case 'skip':
        return DONE;
      case 'create-lease':
        await this.#createLease(name);
        return { kind: 'requeue', afterMs: graceMs(cluster) };
      case 'alive':
        await this.#write(cluster, clock === undefined ? [] : [clock]);
        return { kind: 'requeue', afterMs: verdict.recheckAfterMs };
      case 'silent': {
        if (isKnownSilent(cluster)) return DONE;
        if (seen !== undefined && !(await this.#isStillSilent(name))) return { kind: 'requeue', afterMs: 0 };
        await this.#write(cluster, [
          CLUSTER_CONDITIONS.leaseStopped,
          ...(clock === undefined ? [] : [clock]),
        ]);
        return DONE;
      }
    }
  }

  /** The clusters that will count as unreachable unless their agents renew their leases, in the order of the cache. */
  overdue(): readonly OverdueLease[] {
    const { clock } = this.options;
    this.#checkPresence();
    const nowMs = clock.monotonicMs();
    return this.#clusters.store.list().flatMap((object) => {
      const { name: cluster } = object.metadata;
      const seen = this.#seen.get(leaseKey(cluster));
      const leftMs = overdueMs(object as unknown as ManagedCluster, seen, this.#presence, nowMs);
      return leftMs === undefined
        ? []
        : [{ cluster, runsOutAt: new Date(clock.now() + leftMs).toISOString() }];
    });
  }

  /** Asks the hub itself before placements move, because a watch that broke silently shows no renewals. */
  async #isStillSilent(name: string): Promise<boolean> {
    try {
      const lease = await this.options.hub.get(LEASE, { namespace: name, name: CLUSTER_LEASE });
      const before = this.#seen.get(leaseKey(name));
      if (lease === undefined) {
        this.#seen.delete(leaseKey(name));
        return false;
      }
      this.#observe(lease);
      return this.#seen.get(leaseKey(name)) === before;
    } catch (error) {
      // Agents cannot reach a hub that does not answer, so all of them get the full grace period again.
      if (!(error instanceof InputError)) this.#presence = undefined;
      throw error;
    }
  }

  #checkPresence(): void {
    const { clock } = this.options;
    this.#presence = continuePresence(this.#presence, {
      wallMs: clock.now(),
      monotonicMs: clock.monotonicMs(),
      sinceBootMs: clock.sinceBootMs(),
      receivesLeases: this.#leases.isWatching,
      lists: this.#leases.relists,
    });
  }

  #observe(lease: KubeObject): void {
    const { name, namespace = '' } = lease.metadata;
    if (name !== CLUSTER_LEASE) return;
    const { clock } = this.options;
    const key = leaseKey(namespace);
    const now = { wallMs: clock.now(), monotonicMs: clock.monotonicMs() };
    this.#seen.set(key, observeLease(this.#seen.get(key), lease, now));
  }

  async #createLease(cluster: string): Promise<void> {
    const { hub, clock } = this.options;
    const labels = { [CLUSTER_NAME_LABEL]: cluster };
    const metadata = { name: CLUSTER_LEASE, namespace: cluster, labels };
    const key = { namespace: cluster, name: CLUSTER_LEASE };
    const there = await hub.get(LEASE, key);
    if (there !== undefined) {
      // A lease without the label is not watched.
      if (there.metadata.labels?.[CLUSTER_NAME_LABEL] !== cluster)
        await hub.mergePatch(LEASE, key, { metadata: { labels } }, { fieldManager: REGISTRATION_MANAGER });
      return;
    }
    const renewTime = formatMicroTime(instantFromEpochMs(clock.now()));
    const spec = { holderIdentity: CLUSTER_LEASE, renewTime };
    await hub.create(
      LEASE,
      { apiVersion: apiVersionOf(LEASE), kind: LEASE.kind, metadata, spec },
      { fieldManager: REGISTRATION_MANAGER, metadataOnly: true },
    );
  }

  async #write(cluster: ManagedCluster, conditions: readonly Condition[]): Promise<void> {
    const object = cluster as unknown as KubeObject;
    if (conditions.length === 0) return;
    const gaveUpAtMs = this.options.clock.now();
    if (!(await writeConditions(this.options, MANAGED_CLUSTER, object, conditions))) return;
    const { name } = cluster.metadata;
    const { onEvent } = this.options;
    if (conditions.includes(CLUSTER_CONDITIONS.clockOutOfSync))
      onEvent?.({ action: 'clock-out-of-sync', cluster: name });
    if (!conditions.includes(CLUSTER_CONDITIONS.leaseStopped)) return;
    onEvent?.({ action: 'unreachable', cluster: name, gaveUpAtMs });
    await reportEvent(this.options, object, {
      type: 'Warning',
      reason: 'AvailableUnknown',
      action: 'AvailableUnknown',
      note: `The managed cluster (${name}) is not available, because its agent stopped updating its lease`,
    });
  }
}

function leaseKey(cluster: string): string {
  return `${cluster}/${CLUSTER_LEASE}`;
}
