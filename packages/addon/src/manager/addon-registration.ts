import type { IndexDefinition } from '@berth/kube/cache/object-cache';
import { ADDON_TEMPLATE, MANAGED_CLUSTER_ADDON, ROLE_BINDING } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { AddOnTemplate } from '@berth/ocm/kind/addon';
import { ADDON_NAME_LABEL, CLUSTER_NAME_LABEL } from '@berth/ocm/registration/names';
import { errorText, InputError } from '@berth/runtime/errors';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import {
  desiredTemplate,
  isOwned,
  permissionFailed,
  planRegistration,
  type StoredAddOn,
  TEMPLATE_LABEL,
} from '../rules/registration/template-registrations.ts';
import type { DesiredObject } from '@berth/kube/model/object-writes';
import { writesToMatch } from '@berth/kube/model/object-writes';
import { writeObject } from '@berth/kube/controller/write-object';
import { ADDON_MANAGER, AddOnController, writeAddOnStatus } from './addon-controller.ts';

/** The bindings of an add-on, by `CLUSTER/ADDON`. */
const BINDINGS: IndexDefinition = { kind: ROLE_BINDING, keysOf: addOnOfBinding };

function addOnOfBinding({ metadata: { labels = {} } }: KubeObject): string | undefined {
  const { [CLUSTER_NAME_LABEL]: cluster, [ADDON_NAME_LABEL]: addon, [TEMPLATE_LABEL]: template } = labels;
  return template === undefined || !cluster || !addon ? undefined : `${cluster}/${addon}`;
}

/**
 * Tells the cluster's agent what to register for an add-on of a template, and gives the add-on the rights that its template names.
 * Keys are `CLUSTER/ADDON`. Rights are taken away when the template names them no longer, and when the add-on is gone.
 */
export class AddOnRegistration extends AddOnController {
  readonly name = 'registration';
  readonly #addons = this.read(MANAGED_CLUSTER_ADDON);
  readonly #templates = this.read(ADDON_TEMPLATE);
  readonly #bindings = this.read(ROLE_BINDING);
  readonly #byAddOn = this.options.cache.index(BINDINGS);

  follow(queue: WorkQueue): void {
    for (const { metadata } of this.#addons.store.list()) queue.add(namespacedName(metadata));
    this.#addons.store.onChange(({ key }) => queue.add(key));
    const addOwner = (binding: KubeObject | undefined): void => {
      const key = binding && addOnOfBinding(binding);
      if (key !== undefined) queue.add(key);
    };
    this.#bindings.store.list().forEach(addOwner);
    this.#bindings.store.onChange(({ before, after }) => addOwner(after ?? before));
    this.#templates.store.onChange(({ key }) => {
      for (const addon of this.#addons.store.list())
        if (desiredTemplate(addon) === key) queue.add(namespacedName(addon.metadata));
    });
  }

  async reconcile(key: string): Promise<ReconcileOutcome> {
    const addon = this.#addons.store.get(key) as StoredAddOn | undefined;
    if (addon === undefined) {
      if (this.#byAddOn.get(key).length > 0) await this.#removeAll(key);
      return DONE;
    }
    const template = desiredTemplate(addon);
    // While it is being deleted, its agent cleans up with the rights that it has.
    if (template === undefined || addon.metadata.deletionTimestamp !== undefined || !isOwned(addon))
      return DONE;
    const found = this.#templates.store.get(template) as AddOnTemplate | undefined;
    const plan = planRegistration(addon, template, found);
    const refusal = plan.bindings && (await this.#bind(key, plan.bindings));
    const condition = refusal === undefined ? plan.condition : permissionFailed(errorText(refusal));
    await writeAddOnStatus(this.options, addon, {
      registrations: plan.registrations,
      conditions: [condition],
    });
    if (refusal !== undefined) throw refusal;
    return DONE;
  }

  /** @returns what the hub refused, such as to bind a role that Berth may not bind */
  async #bind(key: string, wanted: readonly DesiredObject[]): Promise<InputError | undefined> {
    const names = new Set(wanted.map(({ object }) => namespacedName(object.metadata)));
    const stale = this.#byAddOn.get(key).filter(({ metadata }) => !names.has(namespacedName(metadata)));
    const writes = [
      ...wanted.flatMap((one) =>
        writesToMatch(this.#bindings.store.get(namespacedName(one.object.metadata)), one),
      ),
      ...stale.map((object) => ({ do: 'delete' as const, kind: ROLE_BINDING, object })),
    ];
    let refusal: InputError | undefined;
    for (const write of writes) {
      try {
        await writeObject(this.options.hub, write, ADDON_MANAGER);
      } catch (error) {
        // The others are tried, too.
        if (!(error instanceof InputError)) throw error;
        refusal ??= error;
      }
    }
    return refusal;
  }

  async #removeAll(key: string): Promise<void> {
    const { hub } = this.options;
    const [namespace = '', name = ''] = key.split('/');
    // The hub itself is asked before rights are taken away.
    if ((await hub.get(MANAGED_CLUSTER_ADDON, { namespace, name })) !== undefined) return;
    for (const object of this.#byAddOn.get(key))
      await writeObject(hub, { do: 'delete', kind: ROLE_BINDING, object }, ADDON_MANAGER);
  }
}
