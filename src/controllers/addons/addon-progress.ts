import { CLUSTER_MANAGEMENT_ADDON, MANAGED_CLUSTER_ADDON, MANIFEST_WORK } from '@berth/kube/model/kinds';
import { namespacedName } from '@berth/kube/model/object-ref';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import {
  isManagedHere,
  readAddOn,
  readClusterAddOn,
  storedReferences,
} from '@berth/addon/rules/addon-versions';
import { isNew, planProgress } from '../../core/addon/configuration/plan-progress.ts';
import { ADDON_MANAGER, AddOnController } from '@berth/addon/manager/addon-controller';
import { addonOfWork, WORKS_OF_ADDON } from '@berth/addon/manager/addon-deployer';

/** Says how far each add-on of a cluster is with its configurations. Keys are `CLUSTER/ADDON`. */
export class AddOnProgress extends AddOnController {
  readonly name = 'progress';
  readonly #addons = this.read(MANAGED_CLUSTER_ADDON);
  readonly #managed = this.read(CLUSTER_MANAGEMENT_ADDON);
  readonly #works = this.read(MANIFEST_WORK);
  readonly #worksOf = this.options.cache.index(WORKS_OF_ADDON);

  follow(queue: WorkQueue): void {
    const all = (name?: string): void => {
      for (const { metadata } of this.#addons.store.list())
        if (name === undefined || metadata.name === name) queue.add(namespacedName(metadata));
    };
    all();
    this.#addons.store.onChange(({ key, after }) => {
      if (after !== undefined) queue.add(key);
    });
    this.#managed.store.onChange(({ key, before }) => {
      if (before === undefined) all(key);
    });
    this.#works.store.onChange(({ before, after }) => {
      for (const work of [before, after]) {
        const key = addonOfWork(work);
        if (key !== undefined) queue.add(key);
      }
    });
  }

  async reconcile(key: string): Promise<ReconcileOutcome> {
    const object = this.#addons.store.get(key);
    const addOn = this.#managed.store.get(object?.metadata.name ?? '');
    if (object === undefined || addOn === undefined || !isManagedHere(readAddOn(addOn))) return DONE;
    const addon = readClusterAddOn(object);
    // The first is written with its configurations.
    if (isNew(addon)) return DONE;
    const works = this.#worksOf.get(key) as unknown as readonly ManifestWork[];
    const now = formatRfc3339(instantFromEpochMs(this.options.clock.now()));
    const { conditions, configReferences = [] } = planProgress(addon, works, now);
    const before = addon.status ?? {};
    const isApplied = jsonEqual(configReferences, before.configReferences ?? []);
    if (isApplied && jsonEqual(conditions, before.conditions ?? [])) return DONE;
    const { namespace = '', name, uid, resourceVersion } = object.metadata;
    const status = {
      conditions,
      ...(!isApplied && { configReferences: storedReferences(configReferences) }),
    };
    await this.options.hub.mergePatch(
      MANAGED_CLUSTER_ADDON,
      { namespace, name },
      { metadata: { uid, resourceVersion }, status },
      { subresource: 'status', fieldManager: ADDON_MANAGER, metadataOnly: true },
    );
    return DONE;
  }
}
