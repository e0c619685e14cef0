import { CLUSTER_MANAGEMENT_ADDON, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import { namespacedName } from '@berth/kube/model/object-ref';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import { planOwners } from '../../core/addon/install/addon-owner.ts';
import { ADDON_MANAGER, AddOnController } from './addon-controller.ts';

/** Makes each add-on of a cluster belong to its ClusterManagementAddOn. Keys are `CLUSTER/ADDON`. */
export class AddOnOwner extends AddOnController {
  readonly name = 'owners';
  readonly #addons = this.read(MANAGED_CLUSTER_ADDON);
  readonly #managed = this.read(CLUSTER_MANAGEMENT_ADDON);

  follow(queue: WorkQueue): void {
    for (const { metadata } of this.#addons.store.list()) queue.add(namespacedName(metadata));
    this.#addons.store.onChange(({ key, after }) => {
      if (after !== undefined) queue.add(key);
    });
    this.#managed.store.onChange(({ before, after }) => {
      if (after === undefined || before?.metadata.uid === after.metadata.uid) return;
      for (const { metadata } of this.#addons.store.list())
        if (metadata.name === after.metadata.name) queue.add(namespacedName(metadata));
    });
  }

  async reconcile(key: string): Promise<ReconcileOutcome> {
    const addon = this.#addons.store.get(key);
    const owner = this.#managed.store.get(addon?.metadata.name ?? '');
    if (addon === undefined || owner === undefined) return DONE;
    const ownerReferences = planOwners(addon.metadata, owner.metadata);
    if (ownerReferences === undefined) return DONE;
    const { namespace = '', name, uid, resourceVersion } = addon.metadata;
    await this.options.hub.mergePatch(
      MANAGED_CLUSTER_ADDON,
      { namespace, name },
      { metadata: { uid, resourceVersion, ownerReferences } },
      { fieldManager: ADDON_MANAGER, metadataOnly: true },
    );
    return DONE;
  }
}
