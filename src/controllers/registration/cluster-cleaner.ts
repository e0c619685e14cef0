import type { KeyIndex, ObjectChange } from '@berth/kube/cache/object-store';
import { CachedController } from '@berth/kube/controller/cached-controller';
import { findCondition } from '@berth/kube/model/condition-list';
import {
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import { placementOfDecision } from '@berth/ocm/kind/placement-decision';
import { DELETING, deletionFailed } from '@berth/ocm/registration/cluster-conditions';
import { REGISTRATION_MANAGER, RESOURCE_FINALIZER } from '@berth/ocm/registration/names';
import { errorText, InputError } from '@berth/runtime/errors';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import { activeHold } from '../../core/publish/approval/approval-code.ts';
import {
  type CleanupPlan,
  type DeletionHold,
  deletionWaits,
  planCleanup,
  REMOVAL_HELD,
} from '../../core/registration/cluster-deletion.ts';
import { DECISIONS_BY_CLUSTER, listedClusters } from '../inventory/decisions-by-cluster.ts';
import { isOfOtherScheduler } from '../inventory/schedulable-placement.ts';
import { type RegistrationOptions, reportEvent, writeConditions } from './registration-options.ts';

const RECHECK_MS = 5_000;
const SOON_MS = 200;
const MAX_NOTE = 1_000;
/** In the order of deletion: add-ons may need works to uninstall themselves, so they come first. */
const CLEANED_KINDS = [MANAGED_CLUSTER_ADDON, MANIFEST_WORK];

/**
 * Deletes the add-ons and works of a cluster before the cluster itself is deleted. It waits while a placement selects
 * the cluster, because a hold keeps what runs there.
 */
export class ClusterCleaner extends CachedController<RegistrationOptions> {
  readonly name = 'cleanup';
  readonly #clusters = this.read(MANAGED_CLUSTER);
  readonly #decisions = this.read(PLACEMENT_DECISION);
  readonly #holds = new DeletionHolds(this.options);
  /** Sentences about the clusters whose deletion waits for a person. */
  readonly #held = new Map<string, string>();
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
    this.#decisions.store.onChange(({ before, after }) => {
      const listed = new Set(after === undefined ? [] : listedClusters(after));
      for (const cluster of before === undefined ? [] : listedClusters(before))
        if (!listed.has(cluster)) queue.add(cluster);
    });
  }

  warnings(): readonly string[] {
    return [...this.#held.values()].sort();
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
    if (await this.#waits(name, cluster)) return { kind: 'requeue', afterMs: RECHECK_MS };
    const { plan, isReported } = await this.#cleanUp(cluster);
    // Writing the report changes the version of the object, so the next pass removes the finalizer.
    if (isReported || !plan.isFinished)
      return { kind: 'requeue', afterMs: plan.isFinished ? SOON_MS : RECHECK_MS };
    const others = finalizers.filter((one) => one !== RESOURCE_FINALIZER);
    await this.#setFinalizers(cluster, others);
    this.options.onEvent?.({ action: 'cleaned-up', cluster: name });
    return DONE;
  }

  /** @param cluster undefined: it is gone */
  async #waits(name: string, cluster: KubeObject | undefined): Promise<boolean> {
    const holds = await this.#holds.of(name);
    const isHeld = holds.some((hold) => hold.isHeld);
    if (!isHeld) this.#held.delete(name);
    if (holds.length === 0) return false;
    const condition = deletionWaits(holds);
    if (isHeld) {
      if (!this.#held.has(name)) await this.#announce(name, cluster, holds);
      this.#held.set(name, `registration: cluster ${name} is being deleted. ${condition.message}`);
    }
    if (cluster !== undefined) await this.#report(cluster, condition);
    return true;
  }

  async #announce(
    name: string,
    cluster: KubeObject | undefined,
    holds: readonly DeletionHold[],
  ): Promise<void> {
    const explanation = holds.map(({ text }) => text).join('; ');
    this.options.onEvent?.({ action: 'deletion-held', cluster: name, explanation });
    const before = cluster === undefined ? undefined : conditionOf(cluster);
    // A restart does not write the Event again.
    if (cluster === undefined || before === REMOVAL_HELD) return;
    const note = `The deletion of cluster ${name} waits: ${explanation}`.slice(0, MAX_NOTE);
    await reportEvent(this.options, cluster, {
      ...{ type: 'Warning', reason: REMOVAL_HELD, action: 'Delete', note },
    });
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
    if (there === undefined && (await this.#waits(name, undefined)))
      return { kind: 'requeue', afterMs: RECHECK_MS };
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
    const write = { fieldManager: REGISTRATION_MANAGER, metadataOnly: true };
    try {
      const patch = { metadata: { uid, resourceVersion, finalizers } };
      await this.options.hub.mergePatch(MANAGED_CLUSTER, { namespace: '', name }, patch, write);
    } catch (error) {
      // The pass before has removed it, and the cache is behind.
      if (!(error instanceof InputError) || error.code !== 'kube.notfound') throw error;
    }
  }
}

function conditionOf(cluster: KubeObject): string | undefined {
  const { conditions } = (cluster['status'] ?? {}) as { readonly conditions?: readonly Condition[] };
  return findCondition(conditions, DELETING)?.reason;
}

/**
 * Whether the object had a deletion timestamp. An object that vanished without one was not deleted: for example, the
 * hub was restored to a time before it existed.
 */
function wasDeleted({ before }: ObjectChange): boolean {
  return before?.metadata.deletionTimestamp !== undefined;
}

/**
 * The objects of a kind in the namespace of a cluster. They are read from the hub itself, because they will be deleted
 * and a cache may lag behind. A kind that the hub does not serve has no objects.
 */
export async function objectsOfCluster(
  hub: KubeApi,
  kind: KindInfo,
  cluster: string,
): Promise<readonly KubeObject[]> {
  try {
    return (await hub.list(kind, { namespace: cluster })).items;
  } catch (error) {
    if (error instanceof InputError && error.code === 'kube.notfound') return [];
    throw error;
  }
}

export async function hasAnyOf(hub: KubeApi, kind: KindInfo, cluster: string): Promise<boolean> {
  return (await objectsOfCluster(hub, kind, cluster)).length > 0;
}

/**
 * Why what runs on a cluster that is being deleted must stay: Berth decides a placement that still selects the cluster.
 * Until that decision lets the cluster go, the deletion removes nothing. The decision may be held, under way or waiting
 * for a replacement; the hold ends as every hold does, and with it the wait.
 */
export class DeletionHolds {
  readonly #options: RegistrationOptions;
  readonly #cached: KeyIndex;

  constructor(options: RegistrationOptions) {
    this.#options = options;
    this.#cached = options.cache.index(DECISIONS_BY_CLUSTER);
  }

  /** Empty: clean-up may go on. Read from the hub, because deletions follow; the cache only answers sooner. */
  async of(cluster: string): Promise<readonly DeletionHold[]> {
    const { decides = 'none', holdsOfPull, hub } = this.#options;
    const pulled = (holdsOfPull?.(cluster) ?? []).map((text): DeletionHold => ({ text, isHeld: true }));
    if (decides === 'none') return pulled;
    const known = await this.#holdersAmong(this.#cached.get(cluster));
    if (known.length > 0) return [...known, ...pulled];
    const { items } = await hub.list(PLACEMENT_DECISION);
    const listing = items.filter((decision) => listedClusters(decision).includes(cluster));
    return [...(await this.#holdersAmong(listing)), ...pulled];
  }

  async #holdersAmong(decisions: readonly KubeObject[]): Promise<readonly DeletionHold[]> {
    const keys = new Set(decisions.flatMap((decision) => placementOfDecision(decision) ?? []));
    const holds: DeletionHold[] = [];
    for (const key of [...keys].sort()) {
      const placement = await this.#read(key);
      if (placement === undefined || !this.#isDecided(placement)) continue;
      const held = activeHold(placement);
      holds.push({
        text: `placement ${key} selects the cluster${held === undefined ? '' : `, and its removal is held (${held.reason}): ${held.message}`}`,
        isHeld: held !== undefined,
      });
    }
    return holds;
  }

  async #read(key: string): Promise<Placement | undefined> {
    const [namespace = '', name = ''] = key.split('/');
    const { items } = await this.#options.hub.list(PLACEMENT, {
      namespace,
      fieldSelector: `metadata.name=${name}`,
    });
    return items[0] as Placement | undefined;
  }

  /** Nobody decides a placement that is being deleted. Its decisions go with it. */
  #isDecided(placement: Placement): boolean {
    if (placement.metadata.deletionTimestamp !== undefined) return false;
    return this.#options.decides === 'all' || !isOfOtherScheduler(placement);
  }
}
