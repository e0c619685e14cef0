import type { KeyIndex } from '@berth/kube/cache/object-store';
import type { Reflector } from '@berth/kube/cache/reflector';
import { writeObject } from '@berth/kube/controller/write-object';
import { MANAGED_CLUSTER, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { type DesiredObject, writesToMatch } from '@berth/kube/model/object-writes';
import type { ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { errorText, InputError } from '@berth/runtime/errors';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import { isOwned, permissionFailed } from '../rules/registration/plan-registration.ts';
import { healthModeOf } from '../rules/deployment/addon-health.ts';
import { isRegistered } from '../rules/deployment/plan-deployment.ts';
import {
  ADDON_MANAGER,
  AddOnController,
  type AddOnOptions,
  changedStatus,
  type StatusChange,
  writeAddOnStatus,
} from './addon-controller.ts';
import type { RegistrationSource } from './addon-source.ts';

/**
 * Tells the cluster's agent what to register for the add-ons of a source, and gives them their rights at the hub. Keys are
 * `CLUSTER/ADDON`. Rights are taken away when the add-on shall have them no longer, and when it is gone.
 */
export class AddOnRegistration extends AddOnController {
  readonly name = 'registration';
  readonly #source: RegistrationSource;
  readonly #addons = this.read(MANAGED_CLUSTER_ADDON);
  readonly #clusters = this.read(MANAGED_CLUSTER);
  readonly #permissions: readonly { readonly of: Reflector; readonly byAddOn: KeyIndex }[];

  constructor(options: AddOnOptions, source: RegistrationSource) {
    super(options);
    this.#source = source;
    this.reads.push(...source.reads);
    this.#permissions = source.permissions.map((definition) => ({
      of: this.read(definition.kind),
      byAddOn: options.cache.index(definition),
    }));
  }

  follow(queue: WorkQueue): void {
    for (const { metadata } of this.#addons.store.list()) queue.add(namespacedName(metadata));
    this.#addons.store.onChange(({ key }) => queue.add(key));
    this.#clusters.store.onChange(({ key, before }) => {
      if (before !== undefined) return;
      for (const { metadata } of this.#addons.store.list())
        if (metadata.namespace === key) queue.add(namespacedName(metadata));
    });
    for (const [at, { keysOf }] of this.#source.permissions.entries()) {
      const store = this.#permissions[at]?.of.store;
      const addOwner = (object: KubeObject | undefined): void => {
        for (const key of [(object && keysOf(object)) ?? []].flat()) queue.add(key);
      };
      store?.list().forEach(addOwner);
      store?.onChange(({ before, after }) => addOwner(after ?? before));
    }
    this.#source.follow((key) => queue.add(key));
  }

  async reconcile(key: string, signal: AbortSignal): Promise<ReconcileOutcome> {
    const addon = this.#addons.store.get(key) as ManagedClusterAddOn | undefined;
    if (addon === undefined) {
      if (this.#ofAddOn(key).length > 0) await this.#removeAll(key);
      return DONE;
    }
    const registered = await this.#register(addon, signal);
    if (registered === undefined) return DONE;
    await writeAddOnStatus(this.options, addon, registered.change);
    if (registered.refusal !== undefined) throw registered.refusal;
    return DONE;
  }

  /**
   * Gives a new add-on its rights, for a caller that writes its status anyway.
   * @param object with the configurations that it gets with that write
   * @returns what its status says then in addition; undefined: a pass of its own does it
   */
  async registerNew(object: KubeObject, signal: AbortSignal): Promise<object | undefined> {
    const addon = object as unknown as ManagedClusterAddOn;
    if (isRegistered(addon) || this.reads.some(({ synced }) => !synced)) return undefined;
    // The event of the caller's write starts a pass of its own, which does again what failed, and reports it.
    const registered = await this.#register(addon, signal).catch(() => undefined);
    return registered && changedStatus(this.options, addon, registered.change);
  }

  /**
   * Gives an add-on its rights.
   * @returns what its status has to say then, and what the hub refused; undefined: nothing is decided yet
   */
  async #register(
    addon: ManagedClusterAddOn,
    signal: AbortSignal,
  ): Promise<{ readonly change: StatusChange; readonly refusal: InputError | undefined } | undefined> {
    const cluster = this.#clusters.store.get(addon.metadata.namespace ?? '') as ManagedCluster | undefined;
    // While it is being deleted, its agent cleans up with the rights that it has.
    if (cluster === undefined || addon.metadata.deletionTimestamp !== undefined || !isOwned(addon))
      return undefined;
    const plan = await this.#source.register({ addon, cluster }, signal);
    if (plan === undefined) return undefined;
    const key = namespacedName(addon.metadata);
    const refusal = plan.permissions && (await this.#give(key, plan.permissions));
    const condition = refusal === undefined ? plan.condition : permissionFailed(errorText(refusal));
    const change = {
      registrations: plan.registrations,
      namespace: this.#source.installNamespace({ addon, cluster }),
      conditions: [condition],
      // An agent that learned of it later would look for a lease first.
      healthMode: healthModeOf(this.#source.health(addon)),
    };
    return { change, refusal };
  }

  /** @returns what the hub refused, such as to bind a role that Berth may not bind */
  async #give(key: string, wanted: readonly DesiredObject[]): Promise<InputError | undefined> {
    const keyOf = ({ kind, object }: DesiredObject): string =>
      `${kind.kind} ${namespacedName(object.metadata)}`;
    const kept = new Set(wanted.map(keyOf));
    const stale = this.#ofAddOn(key).filter((one) => !kept.has(keyOf(one)));
    const live = ({ kind, object }: DesiredObject): KubeObject | undefined =>
      this.options.cache.of(kind).store.get(namespacedName(object.metadata));
    const taken = wanted.find((one) => ![undefined, key].includes(this.#ownerOf(live(one))));
    if (taken !== undefined) return nameTaken(taken, this.#ownerOf(live(taken)));
    const writes = [
      ...wanted.flatMap((one) => writesToMatch(live(one), one)),
      ...stale.map((one) => ({ do: 'delete' as const, ...one })),
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
    for (const one of this.#ofAddOn(key)) await writeObject(hub, { do: 'delete', ...one }, ADDON_MANAGER);
  }

  /** The add-on of a cluster for which an object with rights was made, as `CLUSTER/ADDON`. */
  #ownerOf(object: KubeObject | undefined): string | undefined {
    const keys = object && this.#source.permissions.map(({ keysOf }) => keysOf(object));
    return [keys ?? []].flat(2).find((key) => key !== undefined);
  }

  /** The objects with rights that the add-on has. */
  #ofAddOn(key: string): readonly DesiredObject[] {
    return this.#permissions.flatMap(({ of, byAddOn }) =>
      byAddOn.get(key).map((object) => ({ kind: of.kind, object })),
    );
  }
}

/** Two clusters would take the rights from each other forever. */
function nameTaken({ kind, object: { metadata } }: DesiredObject, owner: string | undefined): InputError {
  return new InputError(`has the rights of add-on ${owner}`, {
    code: 'addons.name-taken',
    subject: `${kind.kind} ${namespacedName(metadata)}`,
    hint: 'give each cluster a name of its own',
  });
}
