import type { IndexDefinition } from '@berth/kube/cache/object-cache';
import type { Reflector } from '@berth/kube/cache/reflector';
import { type KindInfo, MANAGED_CLUSTER_ADDON, SERVICE_ACCOUNT } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { errorText, InputError } from '@berth/runtime/errors';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import type { StoredAddOn } from '../rules/registration/plan-registration.ts';
import {
  addOnOfInfrastructure,
  TOKEN_INFRASTRUCTURE_READY,
  TOKEN_KINDS,
  tokenInfrastructure,
  tokenInfrastructureFailed,
  tokenInfrastructureReady,
  usesTokens,
} from '../rules/registration/token-infrastructure.ts';
import { writesToMatch } from '@berth/kube/model/object-writes';
import { writeObject } from '@berth/kube/controller/write-object';
import { ADDON_MANAGER, AddOnController, writeAddOnStatus } from './addon-controller.ts';

const BY_ADDON: readonly IndexDefinition[] = TOKEN_KINDS.map((kind) => ({
  kind,
  keysOf: addOnOfInfrastructure,
}));

/**
 * Makes the service account whose tokens the agent of an add-on uses with the driver `token`, and removes it when the add-on
 * is deleted or uses another driver. Keys are `CLUSTER/ADDON`. The cluster's agent asks for the tokens.
 */
export class AddOnTokens extends AddOnController {
  readonly name = 'tokens';
  readonly #addons = this.read(MANAGED_CLUSTER_ADDON);
  readonly #kinds: ReadonlyMap<KindInfo, Reflector> = new Map(
    TOKEN_KINDS.map((kind) => [kind, this.read(kind)]),
  );
  readonly #byAddOn = BY_ADDON.map((definition) => ({
    kind: definition.kind,
    index: this.options.cache.index(definition),
  }));

  follow(queue: WorkQueue): void {
    for (const { metadata } of this.#addons.store.list()) queue.add(namespacedName(metadata));
    this.#addons.store.onChange(({ key }) => queue.add(key));
    const addOwner = (object: KubeObject | undefined): void => {
      const key = object && addOnOfInfrastructure(object);
      if (key !== undefined) queue.add(key);
    };
    for (const { store } of this.#kinds.values()) {
      store.list().forEach(addOwner);
      store.onChange(({ before, after }) => addOwner(after ?? before));
    }
  }

  async reconcile(key: string): Promise<ReconcileOutcome> {
    const addon = this.#addons.store.get(key) as StoredAddOn | undefined;
    // While it is being deleted, its agent may still need the hub.
    if (addon?.metadata.deletionTimestamp !== undefined) return DONE;
    if (addon !== undefined && usesTokens(addon)) {
      await this.#ensure(addon);
      return DONE;
    }
    await this.#remove(key, addon);
    if (addon !== undefined)
      await writeAddOnStatus(this.options, addon, { without: [TOKEN_INFRASTRUCTURE_READY] });
    return DONE;
  }

  async #ensure(addon: StoredAddOn): Promise<void> {
    const { namespace: cluster = '', name } = addon.metadata;
    const wanted = tokenInfrastructure(cluster, name);
    const live = ({ kind, object }: (typeof wanted)[number]): KubeObject | undefined =>
      this.#kinds.get(kind)?.store.get(namespacedName(object.metadata));
    const writes = wanted.flatMap((one) => writesToMatch(live(one), one));
    try {
      for (const write of writes) await writeObject(this.options.hub, write, ADDON_MANAGER);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      const conditions = [tokenInfrastructureFailed(errorText(error))];
      await writeAddOnStatus(this.options, addon, { conditions });
      throw error;
    }
    // The event of what was written starts the next pass, which sees the account.
    const account = wanted.find(({ kind }) => kind === SERVICE_ACCOUNT);
    const uid = account && live(account)?.metadata.uid;
    if (writes.length > 0 || uid === undefined) return;
    const conditions = [tokenInfrastructureReady(cluster, name, uid)];
    await writeAddOnStatus(this.options, addon, { conditions });
  }

  async #remove(key: string, addon: StoredAddOn | undefined): Promise<void> {
    const { hub } = this.options;
    const there = this.#byAddOn.flatMap(({ kind, index }) =>
      index.get(key).map((object) => ({ do: 'delete' as const, kind, object })),
    );
    if (there.length === 0) return;
    const [namespace = '', name = ''] = key.split('/');
    // The hub itself is asked before an account is taken away.
    if (addon === undefined && (await hub.get(MANAGED_CLUSTER_ADDON, { namespace, name })) !== undefined)
      return;
    for (const write of there) await writeObject(hub, write, ADDON_MANAGER);
  }
}
