import { CLUSTER_MANAGEMENT_ADDON, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import { readAddOn, readClusterAddOn } from '@berth/addon/rules/addon-versions';
import { planOwners } from '@berth/addon/rules/addon-owner';
import { findMissingManager, withManagerVerdict } from '../../core/addon/install/missing-manager.ts';
import { ADDON_MANAGER, AddOnController } from '@berth/addon/manager/addon-controller';

/** Makes each add-on of a cluster belong to its ClusterManagementAddOn, and says if nothing acts on it. Keys are `CLUSTER/ADDON`. */
export class AddOnOwner extends AddOnController {
  readonly name = 'owners';
  readonly #addons = this.read(MANAGED_CLUSTER_ADDON);
  readonly #managed = this.read(CLUSTER_MANAGEMENT_ADDON);

  follow(queue: WorkQueue): void {
    for (const { metadata } of this.#addons.store.list()) queue.add(namespacedName(metadata));
    this.#addons.store.onChange(({ key, after }) => {
      if (after !== undefined) queue.add(key);
    });
    this.#managed.store.onChange(({ key: name, before, after }) => {
      if (
        before?.metadata.uid === after?.metadata.uid &&
        before?.metadata.generation === after?.metadata.generation
      )
        return;
      for (const { metadata } of this.#addons.store.list())
        if (metadata.name === name) queue.add(namespacedName(metadata));
    });
  }

  async reconcile(key: string): Promise<ReconcileOutcome> {
    const addon = this.#addons.store.get(key);
    if (addon === undefined || addon.metadata.deletionTimestamp !== undefined) return DONE;
    const owner = this.#managed.store.get(addon.metadata.name);
    const ownerReferences = owner && planOwners(addon.metadata, owner.metadata);
    if (ownerReferences === undefined) return this.#reportManager(addon, owner);
    const { namespace = '', name, uid, resourceVersion } = addon.metadata;
    await this.options.hub.mergePatch(
      MANAGED_CLUSTER_ADDON,
      { namespace, name },
      { metadata: { uid, resourceVersion, ownerReferences } },
      { fieldManager: ADDON_MANAGER, metadataOnly: true },
    );
    return DONE;
  }

  async #reportManager(addon: KubeObject, owner: KubeObject | undefined): Promise<ReconcileOutcome> {
    const { hub, clock } = this.options;
    const { namespace = '', name, uid, resourceVersion } = addon.metadata;
    const known = readClusterAddOn(addon);
    const nowMs = clock.now();
    const verdict = findMissingManager(known, owner && readAddOn(owner), nowMs);
    const now = formatRfc3339(instantFromEpochMs(nowMs));
    const conditions = withManagerVerdict(known.status?.conditions ?? [], verdict, now);
    if (conditions !== undefined)
      await hub.mergePatch(
        MANAGED_CLUSTER_ADDON,
        { namespace, name },
        { metadata: { uid, resourceVersion }, status: { conditions } },
        { subresource: 'status', fieldManager: ADDON_MANAGER, metadataOnly: true },
      );
    const { recheckAfterMs: afterMs } = verdict;
    return afterMs === undefined ? DONE : { kind: 'requeue', afterMs };
  }
}
