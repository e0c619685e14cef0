import type { ObjectChange } from '../../adapters/kube/cache/object-store.ts';
import { errorText, InputError } from '../../core/errors.ts';
import { MANAGED_CLUSTER, MANAGED_CLUSTER_ADDON, MANIFEST_WORK } from '../../core/model/kinds.ts';
import type { Condition, KubeObject } from '../../core/model/object-meta.ts';
import { deletionFailed } from '../../core/registration/cluster-conditions.ts';
import { type CleanupPlan, planCleanup } from '../../core/registration/deletion/plan-cleanup.ts';
import { RESOURCE_FINALIZER } from '../../core/registration/names.ts';
import { DONE, type ReconcileOutcome } from '../../runtime/reconciler.ts';
import type { WorkQueue } from '../../runtime/work-queue.ts';
import { CachedController } from './cached-controller.ts';
import { objectsOfCluster } from './objects-of-cluster.ts';
import { REGISTRATION_MANAGER } from './registration-options.ts';
import { writeConditions } from './write-conditions.ts';

const RECHECK_MS = 5_000;
const SOON_MS = 200;
/** In the order of deletion: add-ons may need works to uninstall themselves, so they come first. */
const CLEANED_KINDS = [MANAGED_CLUSTER_ADDON, MANIFEST_WORK];

/** Deletes the add-ons and works of a cluster before the cluster itself is deleted. */
export class ClusterCleaner extends CachedController {
  readonly name = 'cleanup';
  readonly #clusters = this.read(MANAGED_CLUSTER);
  /** Clusters that were deleted after somebody removed their finalizers. */
  readonly #gone = new Set<string>();

  follow(queue: WorkQueue): void {
    for (const { metadata } of this.#clusters.store.list()) queue.add(metadata.name);
    this.#clusters.store.onChange((change) => {
      const { key, after } = change;
      if (after !== undefined) this.#gone.delete(key);
      else if (wasDeleted(change)) this.#gone.add(key);
      queue.add(key);
    });
  }

  async reconcile(name: string): Promise<ReconcileOutcome> {
    const cluster = this.#clusters.store.get(name);
    if (cluster === undefined) return this.#cleanUpAfter(name);
    const finalizers = cluster.metadata.finalizers ?? [];
    const hasFinalizer = finalizers.includes(RESOURCE_FINALIZER);
    if (cluster.metadata.deletionTimestamp === undefined) {
      if (!hasFinalizer) await this.#setFinalizers(cluster, [...finalizers, RESOURCE_FINALIZER]);
      return DONE;
    }
    if (!hasFinalizer) return DONE;
    const { plan, isReported } = await this.#cleanUp(cluster);
    // Writing the report changes the version of the object, so the next pass removes the finalizer.
    if (isReported || !plan.isFinished)
      return { kind: 'requeue', afterMs: plan.isFinished ? SOON_MS : RECHECK_MS };
    const others = finalizers.filter((one) => one !== RESOURCE_FINALIZER);
    await this.#setFinalizers(cluster, others);
    this.options.onEvent?.({ action: 'cleaned-up', cluster: name });
    return DONE;
  }

  async #cleanUp(cluster: KubeObject): Promise<{ readonly plan: CleanupPlan; readonly isReported: boolean }> {
    const { name } = cluster.metadata;
    try {
      const plan = planCleanup(await this.#leftOvers(name));
      await this.#delete(plan, name);
      return { plan, isReported: await this.#report(cluster, plan.condition) };
    } catch (error) {
      if (error instanceof InputError) await this.#report(cluster, deletionFailed(errorText(error)));
      throw error;
    }
  }

  /**
   * The object was deleted by force. What it left behind is deleted as well, once the hub itself confirms that the
   * cluster does not exist.
   */
  async #cleanUpAfter(name: string): Promise<ReconcileOutcome> {
    if (!this.#gone.has(name)) return DONE;
    const there = await this.options.hub.get(MANAGED_CLUSTER, { namespace: '', name });
    const plan = there === undefined ? planCleanup(await this.#leftOvers(name)) : undefined;
    if (plan === undefined || plan.isFinished) {
      this.#gone.delete(name);
      return DONE;
    }
    await this.#delete(plan, name);
    return { kind: 'requeue', afterMs: RECHECK_MS };
  }

  async #leftOvers(cluster: string) {
    const { hub } = this.options;
    return Promise.all(
      CLEANED_KINDS.map(async (kind) => ({ kind, objects: await objectsOfCluster(hub, kind, cluster) })),
    );
  }

  async #delete({ kind, deletions }: CleanupPlan, namespace: string): Promise<void> {
    if (kind === undefined) return;
    for (const { metadata } of deletions)
      await this.options.hub.delete(kind, { namespace, name: metadata.name }, { uid: metadata.uid });
  }

  #report(cluster: KubeObject, condition: Condition): Promise<boolean> {
    return writeConditions(this.options, MANAGED_CLUSTER, cluster, [condition]);
  }

  async #setFinalizers({ metadata }: KubeObject, finalizers: readonly string[]): Promise<void> {
    const { name, uid, resourceVersion } = metadata;
    await this.options.hub.mergePatch(
      MANAGED_CLUSTER,
      { namespace: '', name },
      { metadata: { uid, resourceVersion, finalizers } },
      { fieldManager: REGISTRATION_MANAGER, metadataOnly: true },
    );
  }
}

/**
 * Whether the object had a deletion timestamp. An object that vanished without one was not deleted: for example, the
 * hub was restored to a time before it existed.
 */
function wasDeleted({ before }: ObjectChange): boolean {
  return before?.metadata.deletionTimestamp !== undefined;
}
