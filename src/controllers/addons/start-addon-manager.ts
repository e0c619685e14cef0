import { AddOnCertificates } from '@berth/addon/manager/addon-certificates';
import { ADDON_MANAGER, AddOnController, writeAddOnStatus } from '@berth/addon/manager/addon-controller';
import { AddOnDeployer, addonOfWork, WORKS_OF_ADDON } from '@berth/addon/manager/addon-deployer';
import { AddOnRegistration } from '@berth/addon/manager/addon-registration';
import { AddOnTokens } from '@berth/addon/manager/addon-tokens';
import { TemplateDeployment, TemplateRegistration } from '@berth/addon/manager/template-source';
import { planOwners } from '@berth/addon/rules/addon-owner';
import {
  isManagedHere,
  readAddOn,
  readClusterAddOn,
  storedReferences,
} from '@berth/addon/rules/addon-versions';
import type { IndexDefinition } from '@berth/kube/cache/object-cache';
import type { ObjectChange } from '@berth/kube/cache/object-store';
import type { HubController } from '@berth/kube/controller/cached-controller';
import { runControllers, type RunningControllers } from '@berth/kube/controller/run-controllers';
import {
  CLUSTER_MANAGEMENT_ADDON,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { ConflictError } from '@berth/runtime/errors';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import type { AddOnDuty } from '../../core/addon/addon-duties.ts';
import { planFeatureLabels, unknownHealth } from '../../core/addon/cluster-health.ts';
import { isNew, planProgress } from '../../core/addon/configuration/plan-configuration.ts';
import { findMissingManager, withManagerVerdict } from '../../core/addon/install/missing-manager.ts';
import { SERVE_RIGHTS } from '../../core/rbac/rights-command.ts';
import { AddOnConfigurator } from './addon-configurator.ts';
import { AddOnInstaller } from './addon-installer.ts';
import type { AddOnManagerOptions } from './addon-inventory.ts';

type MakeControllers = (
  options: AddOnManagerOptions,
  registration: AddOnRegistration | undefined,
) => readonly HubController[];

const CONTROLLERS: Readonly<Record<AddOnDuty, MakeControllers>> = {
  install: (options) => [new AddOnOwner(options), new AddOnInstaller(options)],
  configuration: (options, registration) => [
    new AddOnConfigurator(options, registration),
    new AddOnProgress(options),
  ],
  deployment: (options) => [new AddOnDeployer(options, new TemplateDeployment(options))],
  registration: (options, registration) => [
    ...(registration === undefined ? [] : [registration]),
    new AddOnCertificates(options, new TemplateRegistration(options)),
    new AddOnTokens(options),
  ],
  health: (options) => [new AddOnUnknown(options), new FeatureLabels(options)],
};

/** Runs the given controllers of add-ons on the hub. */
export function startAddOnManager(
  options: AddOnManagerOptions,
  duties: readonly AddOnDuty[],
): RunningControllers {
  const registration = duties.includes('registration')
    ? new AddOnRegistration(options, new TemplateRegistration(options))
    : undefined;
  const controllers = duties.flatMap((duty) => CONTROLLERS[duty](options, registration));
  return runControllers({ ...options, rightsCommand: SERVE_RIGHTS }, controllers, 'add-ons');
}

/** Makes each add-on of a cluster belong to its ClusterManagementAddOn, and says if nothing acts on it. Keys are `CLUSTER/ADDON`. */
class AddOnOwner extends AddOnController {
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

/** Says how far each add-on of a cluster is with its configurations. Keys are `CLUSTER/ADDON`. */
class AddOnProgress extends AddOnController {
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
class AddOnUnknown extends ClusterAddOns {
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
class FeatureLabels extends ClusterAddOns {
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
