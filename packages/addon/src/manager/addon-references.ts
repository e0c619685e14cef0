import {
  CLUSTER_MANAGEMENT_ADDON,
  groupResource,
  type KindInfo,
  MANAGED_CLUSTER_ADDON,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { ConfigKind } from '@berth/ocm/kind/addon';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import type { AddOnDefinition } from '../definition/define-addon.ts';
import { planOwners } from '../rules/addon-owner.ts';
import { readAddOn, readClusterAddOn, storedReferences } from '../rules/addon-versions.ts';
import { knownSpecHash } from '../rules/config-hash.ts';
import { type ConfigLookup, sameKind, withHashes, withOwnHashes } from '../rules/config-references.ts';
import { ADDONS_BY_CONFIG, configKey } from './code-source.ts';
import { AddOnController, type AddOnOptions } from './addon-controller.ts';

/**
 * Makes each add-on of a cluster belong to its ClusterManagementAddOn, with which it goes. Writes the hashes of the configurations that
 * add-ons written in code use, which nobody else reads: by them the manager of configurations rolls out a change. Keys are names of ClusterManagementAddOns, and `CLUSTER/ADDON`.
 * Source: addon-framework `pkg/addonmanager/controllers/addonconfig` and `cmaconfig`.
 */
export class AddOnReferences extends AddOnController {
  readonly name = 'references';
  readonly #definitions: ReadonlyMap<string, AddOnDefinition>;
  readonly #managed = this.read(CLUSTER_MANAGEMENT_ADDON);
  readonly #addons = this.read(MANAGED_CLUSTER_ADDON);

  constructor(options: AddOnOptions, definitions: ReadonlyMap<string, AddOnDefinition>) {
    super(options);
    this.#definitions = definitions;
    for (const kind of this.#kinds()) this.read(kind);
  }

  follow(queue: WorkQueue): void {
    const add = (key: string): void => {
      if (this.#definitions.has(key.split('/').at(-1) ?? '')) queue.add(key);
    };
    for (const { store } of [this.#managed, this.#addons]) {
      for (const { metadata } of store.list()) add(namespacedName(metadata));
      store.onChange(({ key }) => add(key));
    }
    const users = this.options.cache.index(ADDONS_BY_CONFIG);
    for (const kind of this.#kinds())
      this.options.cache.of(kind).store.onChange(({ key }) => {
        for (const { metadata } of users.get(configKey(kind, key))) add(namespacedName(metadata));
        for (const { metadata } of this.#managed.store.list()) add(metadata.name);
      });
  }

  async reconcile(key: string): Promise<ReconcileOutcome> {
    const { supportedConfigs = [] } = this.#definitions.get(key.split('/').at(-1) ?? '') ?? {};
    const of = key.includes('/') ? this.#addons : this.#managed;
    const object = of.store.get(key);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return DONE;
    const owner = of === this.#addons ? this.#managed.store.get(object.metadata.name) : undefined;
    const ownerReferences = owner && planOwners(object.metadata, owner.metadata);
    if (ownerReferences !== undefined) {
      // The event of this write starts the next pass.
      await this.patch(of.kind, object, { metadata: { ownerReferences } });
      return DONE;
    }
    const status =
      of === this.#addons
        ? this.#ofClusterAddOn(object, supportedConfigs)
        : this.#ofAddOn(object, supportedConfigs);
    if (Object.keys(status).length > 0) await this.patch(of.kind, object, { status });
    return DONE;
  }

  /** What changes in the status of the add-on of a cluster: the kinds that it supports, and the hashes of what it names itself. */
  #ofClusterAddOn(object: KubeObject, kinds: readonly KindInfo[]): object {
    const addon = readClusterAddOn(object);
    const { configReferences = [], supportedConfigs: known = [] } = addon.status ?? {};
    const supported = kinds.map(({ group, plural: resource }): ConfigKind => ({ group, resource }));
    const isKnown =
      known.length === supported.length &&
      supported.every((kind) => known.some((one) => sameKind(one, kind)));
    const references = withOwnHashes(configReferences, addon, { supported, lookup: this.#lookup(kinds) });
    return {
      ...(!isKnown && { supportedConfigs: supported }),
      ...(!jsonEqual(references, configReferences) && { configReferences: storedReferences(references) }),
    };
  }

  /** What changes in the status of a ClusterManagementAddOn: the hashes of its defaults, and of what its placements give. */
  #ofAddOn(object: KubeObject, kinds: readonly KindInfo[]): object {
    const { defaultConfigReferences: defaults = [], installProgressions: placements = [] } =
      readAddOn(object).status ?? {};
    const lookup = this.#lookup(kinds);
    const hashed = withHashes(defaults, lookup);
    const progressions = placements.map(({ configReferences = [], ...rest }) => ({
      ...rest,
      configReferences: withHashes(configReferences, lookup),
    }));
    const before = placements.map((one) => ({ ...one, configReferences: one.configReferences ?? [] }));
    return {
      ...(!jsonEqual(hashed, defaults) && { defaultconfigReferences: hashed }),
      ...(!jsonEqual(progressions, before) && { installProgressions: progressions }),
    };
  }

  #lookup(kinds: readonly KindInfo[]): ConfigLookup {
    const byResource = new Map(kinds.map((kind) => [groupResource(kind), kind]));
    return ({ group, resource, namespace = '', name }) => {
      const kind = byResource.get(groupResource({ group, plural: resource }));
      if (kind === undefined) return undefined;
      const object = this.options.cache.of(kind).store.get(namespacedName({ namespace, name }));
      if (object === undefined) return { specHash: '', generation: undefined };
      return { specHash: knownSpecHash(object), generation: object.metadata.generation };
    };
  }

  #kinds(): readonly KindInfo[] {
    const all = [...this.#definitions.values()].flatMap(({ supportedConfigs = [] }) => supportedConfigs);
    return [...new Map(all.map((kind) => [groupResource(kind), kind])).values()];
  }
}
