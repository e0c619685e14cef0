import type { ObjectChange } from '@berth/kube/cache/object-store';
import type { IndexDefinition } from '@berth/kube/cache/object-cache';
import { findCondition } from '@berth/kube/model/condition-list';
import { MANAGED_CLUSTER, MANAGED_CLUSTER_ADDON, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import {
  ADDON_NAMESPACE_LABEL,
  HOSTING_CLUSTER_ANNOTATION,
  type ManagedClusterAddOn,
} from '@berth/ocm/kind/addon';
import { type ManagedCluster, takesWork } from '@berth/ocm/kind/managed-cluster';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { sameWorkSpec } from '@berth/ocm/kind/same-work-spec';
import { AVAILABLE } from '@berth/ocm/registration/cluster-conditions';
import { ADDON_NAME_LABEL } from '@berth/ocm/registration/names';
import { BerthError, errorText, InputError } from '@berth/runtime/errors';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import { compareText } from '@berth/runtime/text/compare-text';
import { probed } from '../rules/deployment/addon-health.ts';
import type { WorkWrite } from '../rules/deployment/addon-work.ts';
import {
  type DeploymentInput,
  type DeploymentPlan,
  isRegistered,
  planDeployment,
  workRefused,
} from '../rules/deployment/plan-deployment.ts';
import { ADDON_MANAGER, AddOnController, type AddOnOptions, writeAddOnStatus } from './addon-controller.ts';
import type { DeploymentSource } from './addon-source.ts';

/** By `CLUSTER/ADDON`. */
export const WORKS_OF_ADDON: IndexDefinition = { kind: MANIFEST_WORK, keysOf: addonOfWork };
/** By the clusters on which an add-on runs. */
const ADDONS_BY_CLUSTER: IndexDefinition = {
  kind: MANAGED_CLUSTER_ADDON,
  keysOf: ({ metadata: { namespace = '', annotations } }) => {
    const hosting = annotations?.[HOSTING_CLUSTER_ANNOTATION];
    return hosting ? [namespace, hosting] : [namespace];
  },
};

const MANAGER = { fieldManager: ADDON_MANAGER } as const;

/** Deploys the add-ons of a source, and reports their health. Keys are `CLUSTER/ADDON`. */
export class AddOnDeployer extends AddOnController {
  readonly name = 'deployment';
  readonly #source: DeploymentSource;
  readonly #addons = this.read(MANAGED_CLUSTER_ADDON);
  readonly #clusters = this.read(MANAGED_CLUSTER);
  readonly #works = this.read(MANIFEST_WORK);
  readonly #worksOf;
  readonly #addonsOn;
  /** Works that the first pass over an add-on creates at the moment, as it sent them. */
  readonly #creating = new Map<string, ManifestWork>();

  constructor(options: AddOnOptions, source: DeploymentSource) {
    super(options);
    this.#source = source;
    this.reads.push(...source.reads);
    this.#worksOf = options.cache.index(WORKS_OF_ADDON);
    this.#addonsOn = options.cache.index(ADDONS_BY_CLUSTER);
  }

  follow(queue: WorkQueue): void {
    for (const { metadata } of this.#addons.store.list()) queue.add(namespacedName(metadata));
    this.#addons.store.onChange(({ key, after }) => {
      if (after !== undefined) queue.add(key);
    });
    this.#works.store.onChange((change) => {
      const key = addonOfWork(change.after ?? change.before);
      if (key !== undefined && !this.#isAsPlanned(change)) queue.add(key);
    });
    this.#source.follow((key) => queue.add(key));
    this.#clusters.store.onChange((change) => {
      if (!this.#concernsAddons(change)) return;
      for (const { metadata } of this.#addonsOn.get(change.key)) queue.add(namespacedName(metadata));
    });
  }

  async reconcile(key: string, signal: AbortSignal): Promise<ReconcileOutcome> {
    const input = await this.#inputOf(key, signal);
    if (input === undefined) return DONE;
    const plan = planDeployment(input);
    const { addon } = input;
    if (plan.addFinalizers.length > 0) {
      // The event of this write starts the next pass.
      await this.#setFinalizers(addon, [...(addon.metadata.finalizers ?? []), ...plan.addFinalizers]);
      return DONE;
    }
    const refusal = await this.#writeWorks(addon, plan);
    const judged = await this.#judged(input, plan, signal);
    const conditions = [...plan.conditions, ...judged, ...(refusal === undefined ? [] : [refusal.condition])];
    const written = await this.#writeStatus(addon, { ...plan, conditions });
    if (refusal !== undefined) throw refusal.error;
    const { finalizers = [] } = addon.metadata;
    const kept = finalizers.filter((name) => !plan.removeFinalizers.includes(name));
    if (kept.length < finalizers.length) await this.#setFinalizers(written, kept);
    return DONE;
  }

  /** A new work that the hub stored as a pass sent it: the next pass would plan the same. */
  #isAsPlanned({ key, before, after }: ObjectChange): boolean {
    const sent = before === undefined && after !== undefined ? this.#creating.get(key) : undefined;
    const stored = after as ManifestWork | undefined;
    return sent !== undefined && stored?.status === undefined && sameWorkSpec(stored?.spec, sent.spec);
  }

  /** Not heartbeats: only what decides whether and with what an add-on is deployed, and whether its health is known. */
  #concernsAddons({ before, after }: ObjectChange): boolean {
    const facts = (object: KubeObject | undefined): string => {
      const cluster = object as unknown as ManagedCluster | undefined;
      const available = findCondition(cluster?.status?.conditions, AVAILABLE)?.status;
      const parts = cluster && this.#source.partsOf(cluster);
      return JSON.stringify([cluster?.metadata.uid, takesWork(cluster), parts, available]);
    };
    return facts(before) !== facts(after);
  }

  /** Undefined: there is nothing to do, or another manager does it. */
  async #inputOf(key: string, signal: AbortSignal): Promise<DeploymentInput | undefined> {
    const addon = this.#addons.store.get(key) as ManagedClusterAddOn | undefined;
    if (addon === undefined) return undefined;
    const { namespace = '', annotations } = addon.metadata;
    const cluster = this.#cluster(namespace);
    if (cluster === undefined || !isRegistered(addon) || !this.#source.isOwn(addon)) return undefined;
    const hosting = this.#source.isHosted(addon) ? annotations?.[HOSTING_CLUSTER_ANNOTATION] : undefined;
    const rendered = await this.#source.render({ addon, cluster }, signal);
    return {
      ...{ addon, cluster, rendered },
      hosting: hosting ? { name: hosting, cluster: this.#cluster(hosting) } : undefined,
      works: (this.#worksOf.get(key) as unknown as readonly ManifestWork[]).toSorted((a, b) =>
        compareText(a.metadata.name, b.metadata.name),
      ),
      isDue: this.#source.isDue(addon),
      health: this.#source.health(addon),
    };
  }

  /** What an add-on that judges its health itself says to what was reported. */
  async #judged(
    { addon, cluster }: DeploymentInput,
    { asked }: DeploymentPlan,
    signal: AbortSignal,
  ): Promise<readonly Condition[]> {
    if (asked === undefined) return [];
    const problem = await this.#source.check?.({ addon, cluster }, asked, signal).catch(errorText);
    return [probed(addon.metadata.name, problem)];
  }

  #cluster(name: string): ManagedCluster | undefined {
    return this.#clusters.store.get(name) as ManagedCluster | undefined;
  }

  /**
   * Makes the writes in their order. Nothing is deleted if another write failed.
   * @returns what the hub refused
   */
  async #writeWorks(
    addon: ManagedClusterAddOn,
    { writes, conditions }: DeploymentPlan,
  ): Promise<{ readonly condition: Condition; readonly error: InputError } | undefined> {
    const known = [...(addon.status?.conditions ?? []), ...conditions];
    // The health of the add-on is not judged yet: it is what would differ with the new works.
    const isFirst = findCondition(known, 'ManifestApplied') === undefined;
    for (const write of writes) {
      const { work } = write;
      try {
        await this.#writeWork(write, isFirst);
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
  async #writeWork({ do: verb, work }: WorkWrite, isFirst: boolean): Promise<void> {
    const { hub } = this.options;
    const object = work as unknown as KubeObject;
    const { namespace = '', name, uid } = work.metadata;
    if (verb === 'create') return this.#create(object, isFirst);
    if (verb === 'update') return this.#works.putWritten(await hub.update(MANIFEST_WORK, object, MANAGER));
    await hub.delete(MANIFEST_WORK, { namespace, name }, { uid });
  }

  async #create(work: KubeObject, isFirst: boolean): Promise<void> {
    const { hub } = this.options;
    const key = namespacedName(work.metadata);
    if (isFirst) this.#creating.set(key, work as unknown as ManifestWork);
    try {
      this.#works.putWritten(await hub.create(MANIFEST_WORK, work, MANAGER));
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
    } finally {
      this.#creating.delete(key);
    }
  }

  /** @returns the add-on with its new version */
  async #writeStatus(addon: ManagedClusterAddOn, plan: DeploymentPlan): Promise<ManagedClusterAddOn> {
    const { conditions, dropped: without, installNamespace: namespace, healthMode } = plan;
    const written = await writeAddOnStatus(this.options, addon, {
      ...{ conditions, without, namespace, healthMode },
    });
    if (written === undefined) return addon;
    this.#addons.putWritten(written as unknown as KubeObject);
    return written;
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
