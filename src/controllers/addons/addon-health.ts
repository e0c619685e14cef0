import type { IndexDefinition } from '@berth/kube/cache/object-cache';
import { MANAGED_CLUSTER, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { ConflictError } from '@berth/runtime/errors';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import {
  type LabelledAddOn,
  planFeatureLabels,
  unknownHealth,
} from '../../core/addon/registration/cluster-health.ts';
import { ADDON_MANAGER, AddOnController } from './addon-controller.ts';
import { writeAddOnStatus } from './write-addon-status.ts';

/** The add-ons of a cluster, by its name. */
const ADDONS: IndexDefinition = {
  kind: MANAGED_CLUSTER_ADDON,
  keysOf: ({ metadata }) => metadata.namespace,
};

/**
 * Passes the unknown health of a cluster on to its add-ons, as their health is known from the cluster's agent. Keys are clusters. It
 * looks when the cluster changes or gets an add-on, not when an add-on changes: an agent that still reports has the last word.
 */
export class AddOnUnknown extends AddOnController {
  readonly name = 'unknown health';
  readonly #clusters = this.read(MANAGED_CLUSTER);
  readonly #addons = this.read(MANAGED_CLUSTER_ADDON);
  readonly #byCluster = this.options.cache.index(ADDONS);

  follow(queue: WorkQueue): void {
    for (const { metadata } of this.#clusters.store.list()) queue.add(metadata.name);
    this.#clusters.store.onChange(({ key, after }) => {
      if (after !== undefined) queue.add(key);
    });
    this.#addons.store.onChange(({ before, after }) => {
      if (before === undefined && after?.metadata.namespace !== undefined)
        queue.add(after.metadata.namespace);
    });
  }

  async reconcile(name: string): Promise<ReconcileOutcome> {
    const cluster = this.#clusters.store.get(name) as ManagedCluster | undefined;
    const condition = cluster && unknownHealth(cluster);
    if (condition === undefined) return DONE;
    let lost: ConflictError | undefined;
    for (const addon of this.#byCluster.get(name)) {
      try {
        await writeAddOnStatus(this.options, addon, { conditions: [condition] });
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error;
        lost = error;
      }
    }
    // The next pass reads what the other writer wrote.
    if (lost !== undefined) throw lost;
    return DONE;
  }
}

/** Labels clusters with the add-ons that they have, and how these are. Keys are clusters. */
export class FeatureLabels extends AddOnController {
  readonly name = 'labels';
  readonly #clusters = this.read(MANAGED_CLUSTER);
  readonly #addons = this.read(MANAGED_CLUSTER_ADDON);
  readonly #byCluster = this.options.cache.index(ADDONS);

  follow(queue: WorkQueue): void {
    for (const { metadata } of this.#clusters.store.list()) queue.add(metadata.name);
    this.#clusters.store.onChange(({ key, after }) => {
      if (after !== undefined) queue.add(key);
    });
    this.#addons.store.onChange(({ before, after }) => {
      const { namespace } = (after ?? before)?.metadata ?? {};
      if (namespace !== undefined) queue.add(namespace);
    });
  }

  async reconcile(name: string): Promise<ReconcileOutcome> {
    const cluster = this.#clusters.store.get(name) as ManagedCluster | undefined;
    const addons = this.#byCluster.get(name) as readonly LabelledAddOn[];
    const labels = cluster && planFeatureLabels(cluster, addons);
    if (cluster === undefined || labels === undefined) return DONE;
    const { uid, resourceVersion } = cluster.metadata;
    await this.options.hub.mergePatch(
      MANAGED_CLUSTER,
      { namespace: '', name },
      { metadata: { uid, resourceVersion, labels } },
      { fieldManager: ADDON_MANAGER, metadataOnly: true },
    );
    return DONE;
  }
}
