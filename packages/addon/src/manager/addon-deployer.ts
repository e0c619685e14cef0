import type { ObjectChange } from '@berth/kube/cache/object-store';
import type { IndexDefinition } from '@berth/kube/cache/object-cache';
import { findCondition, setCondition } from '@berth/kube/model/condition-list';
import {
  ADDON_DEPLOYMENT_CONFIG,
  ADDON_TEMPLATE,
  CLUSTER_MANAGEMENT_ADDON,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
} from '@berth/kube/model/kinds';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import {
  ADDON_GROUP,
  ADDON_NAMESPACE_LABEL,
  type AddOnDeploymentConfig,
  type AddOnTemplate,
  type ConfigKind,
  HOSTING_CLUSTER_ANNOTATION,
  type ManagedClusterAddOn,
} from '@berth/ocm/kind/addon';
import { type ManagedCluster, takesWork } from '@berth/ocm/kind/managed-cluster';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { AVAILABLE } from '@berth/ocm/registration/cluster-conditions';
import { ADDON_NAME_LABEL } from '@berth/ocm/registration/names';
import { BerthError, errorText, InputError } from '@berth/runtime/errors';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import { isOfTemplate, readAddOn } from '../rules/addon-versions.ts';
import { isDesired } from '../rules/config-hash.ts';
import type { WorkWrite } from '../rules/deployment/addon-work.ts';
import {
  type DeploymentInput,
  type DeploymentPlan,
  planDeployment,
  workRefused,
} from '../rules/deployment/plan-deployment.ts';
import { renderAddOnTemplate } from '../rules/render-template.ts';
import { ADDON_MANAGER, AddOnController, type AddOnOptions } from './addon-controller.ts';

/** By `CLUSTER/ADDON`. */
export const WORKS_OF_ADDON: IndexDefinition = { kind: MANIFEST_WORK, keysOf: addonOfWork };
/** By what an add-on is made from, and where it runs: keys of the functions below. */
const ADDONS_BY_PART: IndexDefinition = {
  kind: MANAGED_CLUSTER_ADDON,
  keysOf: (object) => {
    const addon = object as unknown as ManagedClusterAddOn;
    const { name, namespace = '', annotations } = addon.metadata;
    const references = addon.status?.configReferences ?? [];
    const hosting = annotations?.[HOSTING_CLUSTER_ANNOTATION];
    return [
      partKey(CLUSTER_MANAGEMENT_ADDON, name),
      partKey(MANAGED_CLUSTER, namespace),
      ...(hosting ? [partKey(MANAGED_CLUSTER, hosting)] : []),
      ...references.flatMap(({ group, resource, desiredConfig }) =>
        desiredConfig ? [partKey({ group, plural: resource }, namespacedName(desiredConfig))] : [],
      ),
    ];
  },
};

const IMAGE_REGISTRIES = 'open-cluster-management.io/image-registries';
const MANAGER = { fieldManager: ADDON_MANAGER } as const;

/** Deploys the add-ons that AddOnTemplates describe, and reports their health. Keys are `CLUSTER/ADDON`. */
export class AddOnDeployer extends AddOnController {
  readonly name = 'deployment';
  readonly #addons = this.read(MANAGED_CLUSTER_ADDON);
  readonly #managed = this.read(CLUSTER_MANAGEMENT_ADDON);
  readonly #templates = this.read(ADDON_TEMPLATE);
  readonly #configs = this.read(ADDON_DEPLOYMENT_CONFIG);
  readonly #clusters = this.read(MANAGED_CLUSTER);
  readonly #works = this.read(MANIFEST_WORK);
  readonly #worksOf;
  readonly #addonsOf;

  constructor(options: AddOnOptions) {
    super(options);
    this.#worksOf = options.cache.index(WORKS_OF_ADDON);
    this.#addonsOf = options.cache.index(ADDONS_BY_PART);
  }

  follow(queue: WorkQueue): void {
    for (const { metadata } of this.#addons.store.list()) queue.add(namespacedName(metadata));
    this.#addons.store.onChange(({ key, after }) => {
      if (after !== undefined) queue.add(key);
    });
    this.#works.store.onChange(({ before, after }) => {
      const key = addonOfWork(after ?? before);
      if (key !== undefined) queue.add(key);
    });
    const addParts = (kind: KindInfo, { key }: ObjectChange): void => {
      for (const { metadata } of this.#addonsOf.get(partKey(kind, key))) queue.add(namespacedName(metadata));
    };
    for (const { kind, store } of [this.#managed, this.#templates, this.#configs])
      store.onChange((change) => addParts(kind, change));
    this.#clusters.store.onChange((change) => {
      if (concernsAddons(change)) addParts(MANAGED_CLUSTER, change);
    });
  }

  async reconcile(key: string): Promise<ReconcileOutcome> {
    const input = this.#inputOf(key);
    if (input === undefined) return DONE;
    const plan = planDeployment(input);
    const { addon } = input;
    if (plan.addFinalizers.length > 0) {
      // The event of this write starts the next pass.
      await this.#setFinalizers(addon, [...(addon.metadata.finalizers ?? []), ...plan.addFinalizers]);
      return DONE;
    }
    const refusal = await this.#writeWorks(addon, plan.writes);
    const conditions = refusal === undefined ? plan.conditions : [...plan.conditions, refusal.condition];
    const written = await this.#writeStatus(addon, { ...plan, conditions });
    if (refusal !== undefined) throw refusal.error;
    const { finalizers = [] } = addon.metadata;
    const kept = finalizers.filter((name) => !plan.removeFinalizers.includes(name));
    if (kept.length < finalizers.length) await this.#setFinalizers(written, kept);
    return DONE;
  }

  /** Undefined: there is nothing to do, or another manager does it. */
  #inputOf(key: string): DeploymentInput | undefined {
    const addon = this.#addons.store.get(key) as ManagedClusterAddOn | undefined;
    if (addon === undefined) return undefined;
    const { name, namespace = '', annotations } = addon.metadata;
    const cluster = this.#cluster(namespace);
    if (cluster === undefined || !isMadeOfTemplate(addon, this.#managed.store.get(name))) return undefined;
    const hosting = annotations?.[HOSTING_CLUSTER_ANNOTATION];
    return {
      ...{ addon, cluster },
      hosting: hosting ? { name: hosting, cluster: this.#cluster(hosting) } : undefined,
      works: (this.#worksOf.get(key) as unknown as readonly ManifestWork[]).toSorted((a, b) =>
        a.metadata.name < b.metadata.name ? -1 : 1,
      ),
      rendered: renderAddOnTemplate({
        addonName: name,
        cluster: cluster.metadata,
        addon,
        template: (template) => this.#templates.store.get(template) as AddOnTemplate | undefined,
        deploymentConfig: (ofNamespace, config) =>
          this.#configs.store.get(`${ofNamespace}/${config}`) as AddOnDeploymentConfig | undefined,
      }),
      isRolledOut: this.#isRolledOut(addon),
    };
  }

  #cluster(name: string): ManagedCluster | undefined {
    return this.#clusters.store.get(name) as ManagedCluster | undefined;
  }

  #isRolledOut({ status }: ManagedClusterAddOn): boolean {
    return [this.#templates, this.#configs].every(({ kind, store }) => {
      const reference = status?.configReferences?.find((one) => isOf(one, kind));
      const config = store.get(reference?.desiredConfig ? namespacedName(reference.desiredConfig) : '');
      return config === undefined || !reference?.desiredConfig || isDesired(reference.desiredConfig, config);
    });
  }

  /**
   * Makes the writes in their order. Nothing is deleted if another write failed.
   * @returns what the hub refused
   */
  async #writeWorks(
    addon: ManagedClusterAddOn,
    writes: readonly WorkWrite[],
  ): Promise<{ readonly condition: Condition; readonly error: InputError } | undefined> {
    for (const write of writes) {
      const { work } = write;
      try {
        await this.#writeWork(write);
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        return { condition: workRefused(work, errorText(error)), error };
      }
      const { namespace: cluster = '' } = work.metadata;
      this.options.onEvent?.({ action: `work-${write.do}d`, addon: addon.metadata.name, cluster });
    }
    return undefined;
  }

  /** The next pass sees what was created: otherwise it would place manifests of a new work a second time. */
  async #writeWork({ do: verb, work }: WorkWrite): Promise<void> {
    const { hub } = this.options;
    const object = work as unknown as KubeObject;
    const { namespace = '', name, uid } = work.metadata;
    if (verb === 'create') return this.#works.putWritten(await this.#create(object));
    if (verb === 'update') return this.#works.putWritten(await hub.update(MANIFEST_WORK, object, MANAGER));
    await hub.delete(MANIFEST_WORK, { namespace, name }, { uid });
  }

  async #create(work: KubeObject): Promise<KubeObject> {
    const { hub } = this.options;
    try {
      return await hub.create(MANIFEST_WORK, work, MANAGER);
    } catch (error) {
      if (!(error instanceof BerthError) || error.code !== 'kube.alreadyexists') throw error;
      const { namespace = '', name } = work.metadata;
      const live = await hub.get(MANIFEST_WORK, { namespace, name });
      // The work that was just created: its event starts the next pass.
      if (live === undefined || addonOfWork(live) === addonOfWork(work)) throw error;
      throw new InputError('a ManifestWork of this name exists and does not belong to the add-on', {
        code: 'addons.name-taken',
        subject: `ManifestWork ${namespace}/${name}`,
        hint: `delete or rename it: add-on ${work.metadata.labels?.[ADDON_NAME_LABEL]} needs the name`,
        cause: error,
      });
    }
  }

  /** @returns the add-on with its new version */
  async #writeStatus(addon: ManagedClusterAddOn, plan: DeploymentPlan): Promise<ManagedClusterAddOn> {
    const { hub, clock } = this.options;
    const { conditions: before = [], namespace: installed, healthCheck } = addon.status ?? {};
    const now = formatRfc3339(instantFromEpochMs(clock.now()));
    const kept = before.filter(({ type }) => !plan.dropped.includes(type));
    const conditions = plan.conditions.reduce<readonly Condition[]>(
      (list, condition) => setCondition(list, condition, now),
      kept,
    );
    const { installNamespace = installed, healthMode = healthCheck?.mode } = plan;
    const status = {
      ...(jsonEqual(conditions, before) ? {} : { conditions }),
      ...(installNamespace === installed ? {} : { namespace: installNamespace }),
      ...(healthMode === healthCheck?.mode ? {} : { healthCheck: { mode: healthMode } }),
    };
    if (Object.keys(status).length === 0) return addon;
    const { namespace = '', name, uid, resourceVersion } = addon.metadata;
    const patch = { metadata: { uid, resourceVersion }, status };
    const options = { ...MANAGER, subresource: 'status' } as const;
    const written = await hub.mergePatch(MANAGED_CLUSTER_ADDON, { namespace, name }, patch, options);
    this.#addons.putWritten(written);
    return written as unknown as ManagedClusterAddOn;
  }

  async #setFinalizers({ metadata }: ManagedClusterAddOn, finalizers: readonly string[]): Promise<void> {
    const { namespace = '', name, uid, resourceVersion } = metadata;
    const patch = { metadata: { uid, resourceVersion, finalizers } };
    const options = { ...MANAGER, metadataOnly: true };
    await this.options.hub.mergePatch(MANAGED_CLUSTER_ADDON, { namespace, name }, patch, options);
  }
}

export function addonOfWork(work: KubeObject | undefined): string | undefined {
  const { namespace = '', labels = {} } = work?.metadata ?? {};
  const addon = labels[ADDON_NAME_LABEL];
  return addon === undefined ? undefined : `${labels[ADDON_NAMESPACE_LABEL] ?? namespace}/${addon}`;
}

function partKey({ group, plural }: Pick<KindInfo, 'group' | 'plural'>, key: string): string {
  return `${plural}.${group} ${key}`;
}

/** Other add-ons have a manager of their own. One that is going keeps its manager when its ClusterManagementAddOn is gone. */
function isMadeOfTemplate({ status }: ManagedClusterAddOn, managed: KubeObject | undefined): boolean {
  if (managed !== undefined && isOfTemplate(readAddOn(managed))) return true;
  return status?.configReferences?.some((reference) => isOf(reference, ADDON_TEMPLATE)) === true;
}

function isOf({ group, resource }: ConfigKind, kind: KindInfo): boolean {
  return group === ADDON_GROUP && resource === kind.plural;
}

/** Not heartbeats: only what decides whether and with what an add-on is deployed, and whether its health is known. */
function concernsAddons({ before, after }: ObjectChange): boolean {
  const facts = (object: KubeObject | undefined): string => {
    const cluster = object as unknown as ManagedCluster | undefined;
    const available = findCondition(cluster?.status?.conditions, AVAILABLE)?.status;
    return JSON.stringify([
      cluster?.metadata.uid,
      takesWork(cluster),
      cluster?.metadata.annotations?.[IMAGE_REGISTRIES],
      available,
    ]);
  };
  return facts(before) !== facts(after);
}
