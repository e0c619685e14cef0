import {
  ADDON_DEPLOYMENT_CONFIG,
  ADDON_TEMPLATE,
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import { createIfAbsent } from '@berth/kube/create-if-absent';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { setCondition } from '@berth/kube/model/condition-list';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type {
  AddOnConfigReference,
  ClusterManagementAddOn,
  DefaultConfigReference,
  ManagedClusterAddOn,
} from '@berth/ocm/kind/addon';
import {
  DECISION_GROUP_INDEX_LABEL,
  DECISION_GROUP_NAME_LABEL,
  PLACEMENT_LABEL,
} from '@berth/ocm/kind/placement-decision';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import { AddOnController } from '../manager/addon-controller.ts';
import { addOnOwner, planOwners } from '../rules/addon-owner.ts';
import { isOfTemplate, readAddOn, readClusterAddOn, storedReferences } from '../rules/addon-versions.ts';
import { knownSpecHash } from '../rules/config-hash.ts';
import { type ConfigLookup, isConfig, isOfKind, sameKind, sameReferent } from '../rules/config-references.ts';
import { installPlacements, planInstall, selectedClusters, selectionBy } from '../rules/plan-install.ts';
import { planReferences } from '../rules/plan-references.ts';

const CONFIGURED: Condition = {
  type: 'Configured',
  status: 'True',
  reason: 'ConfigurationsConfigured',
  message: 'Configurations configured',
};

/**
 * Installs add-ons on the clusters that the decisions of their placements name, and gives each at once the configurations that it, the
 * last such placement or its ClusterManagementAddOn names. There are no rollouts, and nothing is held. Keys are names of add-ons.
 */
export class PlacedAddOns extends AddOnController {
  readonly name = 'placed';
  readonly #addons = this.read(MANAGED_CLUSTER_ADDON);
  readonly #managed = this.read(CLUSTER_MANAGEMENT_ADDON);
  readonly #clusters = this.read(MANAGED_CLUSTER);
  readonly #decisions = this.read(PLACEMENT_DECISION);
  readonly #configs = [ADDON_TEMPLATE, ADDON_DEPLOYMENT_CONFIG].map((kind) => this.read(kind));

  follow(queue: WorkQueue): void {
    const addAll = (): void => {
      for (const { metadata } of this.#managed.store.list()) queue.add(metadata.name);
    };
    addAll();
    for (const { store } of this.reads) store.onChange(addAll);
  }

  async reconcile(key: string): Promise<ReconcileOutcome> {
    const stored = this.#managed.store.get(key);
    if (stored === undefined || stored.metadata.deletionTimestamp !== undefined) return DONE;
    const addOn = readAddOn(stored);
    const objects = this.#addons.store.list().filter(({ metadata }) => metadata.name === key);
    await this.#install(addOn, objects);
    const references = planReferences(addOn, this.#lookup(addOn));
    const { defaultConfigReferences = [], installProgressions = [] } = references;
    const { status: before = {} } = addOn;
    if (
      !jsonEqual(defaultConfigReferences, before.defaultConfigReferences ?? []) ||
      !jsonEqual(installProgressions, before.installProgressions ?? [])
    )
      await this.patch(CLUSTER_MANAGEMENT_ADDON, stored, {
        status: { defaultconfigReferences: defaultConfigReferences, installProgressions },
      });
    for (const object of objects)
      await this.#configure(object, { ...addOn, status: { ...before, ...references } });
    return DONE;
  }

  get #selectionOf() {
    return selectionBy(this.#decisions.store.list());
  }

  async #install(addOn: ClusterManagementAddOn, objects: readonly KubeObject[]): Promise<void> {
    const { hub } = this.options;
    const { joining, leaving } = planInstall({
      addOn,
      installed: new Map(objects.map((one) => [one.metadata.namespace ?? '', readClusterAddOn(one)])),
      selectionOf: this.#selectionOf,
      cluster: (name) => this.#clusters.store.get(name) as ManagedCluster | undefined,
    });
    const { name } = addOn.metadata;
    for (const namespace of joining)
      await createIfAbsent(hub, MANAGED_CLUSTER_ADDON, {
        ...{ apiVersion: apiVersionOf(MANAGED_CLUSTER_ADDON), kind: MANAGED_CLUSTER_ADDON.kind, spec: {} },
        metadata: { namespace, name, ownerReferences: [addOnOwner(addOn.metadata)] },
      });
    for (const { metadata } of leaving)
      await hub.delete(MANAGED_CLUSTER_ADDON, { namespace: metadata.namespace ?? '', name });
  }

  async #configure(object: KubeObject, addOn: ClusterManagementAddOn): Promise<void> {
    if (object.metadata.deletionTimestamp !== undefined) return;
    const ownerReferences = planOwners(object.metadata, addOn.metadata);
    // The event of this write starts the next pass.
    if (ownerReferences !== undefined)
      return this.patch(MANAGED_CLUSTER_ADDON, object, { metadata: { ownerReferences } });
    const addon = readClusterAddOn(object);
    const { configReferences: known = [], conditions: before = [] } = addon.status ?? {};
    const configReferences = this.#references(addon, addOn);
    const now = formatRfc3339(instantFromEpochMs(this.options.clock.now()));
    const conditions = setCondition(before, CONFIGURED, now);
    if (
      jsonEqual(storedReferences(configReferences), storedReferences(known)) &&
      jsonEqual(conditions, before)
    )
      return;
    const status = { configReferences: storedReferences(configReferences), conditions };
    await this.patch(MANAGED_CLUSTER_ADDON, object, { status });
  }

  /** What the add-on of a cluster names itself, and of other kinds what its placement gives, or the defaults. */
  #references(
    { metadata, spec, status }: ManagedClusterAddOn,
    addOn: ClusterManagementAddOn,
  ): readonly AddOnConfigReference[] {
    const { defaultConfigReferences = [], installProgressions = [] } = addOn.status ?? {};
    const placement = installPlacements(addOn)?.findLast((one) =>
      selectedClusters([one], this.#selectionOf).selected.has(metadata.namespace ?? ''),
    );
    const progression = placement && installProgressions.find((one) => sameReferent(one, placement));
    const given: readonly DefaultConfigReference[] = progression?.configReferences ?? defaultConfigReferences;
    const own = (spec?.configs ?? []).map(({ group, resource, ...desiredConfig }) => ({
      ...{ group, resource },
      desiredConfig: { ...desiredConfig, specHash: undefined },
    }));
    const inherited = given.filter((reference) => !own.some((one) => sameKind(one, reference)));
    const lookup = this.#lookup(addOn);
    return [...inherited, ...own].flatMap(({ group, resource, desiredConfig }) => {
      if (desiredConfig === undefined || desiredConfig === null) return [];
      const before = status?.configReferences?.find(
        (one) => sameKind(one, { group, resource }) && isConfig(one, desiredConfig),
      );
      const found = lookup({ group, resource, ...desiredConfig });
      const specHash = desiredConfig.specHash ?? found?.specHash ?? before?.desiredConfig?.specHash ?? '';
      const lastObservedGeneration = found?.generation ?? before?.lastObservedGeneration ?? 0;
      return { group, resource, lastObservedGeneration, desiredConfig: { ...desiredConfig, specHash } };
    });
  }

  /** The objects of an add-on of a template. Another add-on's own manager reads its configurations, and writes their hashes. */
  #lookup(addOn: ClusterManagementAddOn): ConfigLookup {
    if (!isOfTemplate(addOn)) return () => undefined;
    return ({ group, resource, ...referent }) => {
      const config = this.#configs.find(({ kind }) => isOfKind({ group, resource }, kind));
      if (config === undefined) return undefined;
      const object = config.store.get(namespacedName(referent));
      if (object === undefined) return { specHash: '', generation: undefined };
      return { specHash: knownSpecHash(object), generation: object.metadata.generation };
    };
  }
}

/**
 * Decides a placement: it selects these clusters. Makes the Placement if it is not there.
 * @param key `NAMESPACE/NAME`
 */
export async function decidePlacement(hub: KubeApi, key: string, clusters: readonly string[]): Promise<void> {
  const [namespace = '', name = ''] = key.split('/');
  const typed = (kind: KindInfo) => ({ apiVersion: apiVersionOf(kind), kind: kind.kind });
  await createIfAbsent(hub, PLACEMENT, { ...typed(PLACEMENT), metadata: { namespace, name }, spec: {} });
  const labels = {
    [PLACEMENT_LABEL]: name,
    [DECISION_GROUP_INDEX_LABEL]: '0',
    [DECISION_GROUP_NAME_LABEL]: '',
  };
  const page = { namespace, name: `${name}-decision-1` };
  await createIfAbsent(hub, PLACEMENT_DECISION, {
    ...typed(PLACEMENT_DECISION),
    metadata: { ...page, labels },
  });
  const decisions = clusters.map((clusterName) => ({ clusterName, reason: '' }));
  await hub.mergePatch(PLACEMENT_DECISION, page, { status: { decisions } }, { subresource: 'status' });
}
