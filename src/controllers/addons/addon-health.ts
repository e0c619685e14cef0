import type { IndexDefinition } from '@berth/kube/cache/object-cache';
import type { ObjectChange } from '@berth/kube/cache/object-store';
import { MANAGED_CLUSTER, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { ConflictError } from '@berth/runtime/errors';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import { planFeatureLabels, unknownHealth } from '../../core/addon/cluster-health.ts';
import { ADDON_MANAGER, AddOnController, writeAddOnStatus } from '@berth/addon/manager/addon-controller';

/** The add-ons of a cluster, by its name. */
const ADDONS: IndexDefinition = {
  kind: MANAGED_CLUSTER_ADDON,
  keysOf: ({ metadata }) => metadata.namespace,
};

/** Works on a cluster with its add-ons. Keys are clusters. */
abstract class ClusterAddOns extends AddOnController {
  readonly #clusters = this.read(MANAGED_CLUSTER);
  readonly #addons = this.read(MANAGED_CLUSTER_ADDON);
  readonly #byCluster = this.options.cache.index(ADDONS);

  follow(queue: WorkQueue): void {
    for (const { metadata } of this.#clusters.store.list()) queue.add(metadata.name);
    this.#clusters.store.onChange(({ key, after }) => {
      if (after !== undefined) queue.add(key);
    });
    this.#addons.store.onChange((change) => {
      const { namespace } = (change.after ?? change.before)?.metadata ?? {};
      if (namespace !== undefined && this.concerns(change)) queue.add(namespace);
    });
  }

  async reconcile(name: string): Promise<ReconcileOutcome> {
    const cluster = this.#clusters.store.get(name) as ManagedCluster | undefined;
    if (cluster !== undefined) await this.write(cluster, this.#byCluster.get(name));
    return DONE;
  }

  /** Whether the cluster is looked at after this change of an add-on. */
  protected concerns(_change: ObjectChange): boolean {
    return true;
  }

  protected abstract write(cluster: ManagedCluster, addons: readonly KubeObject[]): Promise<void>;
}

/**
 * Passes the unknown health of a cluster on to its add-ons, as their health is known from the cluster's agent. It
 * looks when the cluster changes or gets an add-on, not when an add-on changes: an agent that still reports has the last word.
 */
export class AddOnUnknown extends ClusterAddOns {
  readonly name = 'unknown health';

  protected override concerns({ before }: ObjectChange): boolean {
    return before === undefined;
  }

  protected override async write(cluster: ManagedCluster, addons: readonly KubeObject[]): Promise<void> {
    const condition = unknownHealth(cluster);
    if (condition === undefined) return;
    let lost: ConflictError | undefined;
    for (const addon of addons) {
      try {
        await writeAddOnStatus(this.options, addon, { conditions: [condition] });
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error;
        lost = error;
      }
    }
    // The next pass reads what the other writer wrote.
    if (lost !== undefined) throw lost;
  }
}

/** Labels clusters with the add-ons that they have, and how these are. */
export class FeatureLabels extends ClusterAddOns {
  readonly name = 'labels';

  protected override async write(cluster: ManagedCluster, addons: readonly KubeObject[]): Promise<void> {
    const labels = planFeatureLabels(cluster, addons);
    if (labels === undefined) return;
    const { name, uid, resourceVersion } = cluster.metadata;
    await this.options.hub.mergePatch(
      MANAGED_CLUSTER,
      { namespace: '', name },
      { metadata: { uid, resourceVersion, labels } },
      { fieldManager: ADDON_MANAGER, metadataOnly: true },
    );
  }
}
