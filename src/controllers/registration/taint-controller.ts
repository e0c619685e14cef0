import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { ManagedCluster, Taint } from '@berth/ocm/kind/managed-cluster';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { planTaints, stampHealthTaints } from '../../core/registration/health/health-taints.ts';
import { REGISTRATION_MANAGER } from '@berth/ocm/registration/names';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import { CachedController } from './cached-controller.ts';

/** Taints clusters by their health, so that placements move away from clusters that do not answer. */
export class TaintController extends CachedController {
  readonly name = 'taints';
  readonly #clusters = this.read(MANAGED_CLUSTER);

  follow(queue: WorkQueue): void {
    for (const { metadata } of this.#clusters.store.list()) queue.add(metadata.name);
    this.#clusters.store.onChange(({ key, after }) => {
      if (after !== undefined) queue.add(key);
    });
  }

  async reconcile(name: string): Promise<ReconcileOutcome> {
    const cluster = this.#clusters.store.get(name) as ManagedCluster | undefined;
    if (cluster === undefined) return DONE;
    const wanted = planTaints(cluster);
    const written = wanted === undefined ? cluster : await this.#write(cluster, wanted);
    // Set here because the hub may have no admission webhook that does it. Without a time, a toleration would never end.
    const now = formatRfc3339(instantFromEpochMs(this.options.clock.now()));
    const stamped = stampHealthTaints(written, now);
    if (stamped !== undefined) await this.#write(written, stamped);
    return DONE;
  }

  async #write({ metadata }: ManagedCluster, taints: readonly Taint[]): Promise<ManagedCluster> {
    const { name, uid, resourceVersion } = metadata;
    const spec = { taints: taints.length === 0 ? null : taints };
    return (await this.options.hub.mergePatch(
      MANAGED_CLUSTER,
      { namespace: '', name },
      { metadata: { uid, resourceVersion }, spec },
      { fieldManager: REGISTRATION_MANAGER },
    )) as unknown as ManagedCluster;
  }
}
