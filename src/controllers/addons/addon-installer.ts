import { ADDON_MANAGER, AddOnController } from '@berth/addon/manager/addon-controller';
import { addOnOwner } from '@berth/addon/rules/addon-owner';
import { readAddOn } from '@berth/addon/rules/addon-versions';
import {
  installPlacements,
  type InstallPlan,
  planAnnotations,
  planInstall,
} from '@berth/addon/rules/plan-install';
import { eventAbout } from '@berth/kube/model/event';
import {
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  EVENT,
  MANAGED_CLUSTER_ADDON,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { ClusterManagementAddOn, ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import { PLACEMENT_LABEL, type PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { ConflictError, InputError } from '@berth/runtime/errors';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import pLimit from 'p-limit';
import {
  type AddOnHold,
  heldAnnotations,
  heldRemoval,
  judgeAddOnRemovals,
  leavingClusters,
  releasedAnnotations,
  type ReleasedRemoval,
  releasedRemoval,
  removalGroupOf,
} from '../../core/addon/install/held-removal.ts';
import { recentRemovals } from '../../core/publish/judge/removal-budget.ts';
import { RENEWAL_MS, renewEvent } from '../events/controller-events.ts';
import { confirmTakeWork, MissingNamespaces } from '../inventory/cluster-namespaces.ts';
import { AddOnInventory, type AddOnManagerOptions } from './addon-inventory.ts';

/** Placements change one after the other. What leaves is judged together when nothing has followed for this time. */
const REMOVAL_GATHER_MS = 1_000;
/** A hub on which decisions change all the time does not keep add-ons for longer. */
const MAX_FOLLOW_MS = 60_000;
/** Recent removals leave the window without an event. */
const HELD_RECHECK_MS = 60_000;
const CONCURRENCY = 8;

/** Installs add-ons on the clusters that their placements select, and removes them from others. Keys are names of add-ons. */
export class AddOnInstaller extends AddOnController<AddOnManagerOptions> {
  readonly name = 'install';
  readonly #inventory: AddOnInventory;
  readonly #namespaces: MissingNamespaces;
  /** By add-on: since when clusters leave, and since when nothing else follows. */
  readonly #leaving = new Map<string, { readonly sinceMs: number; readonly quietSinceMs: number }>();
  readonly #held: HeldRemovals;
  readonly #unknown = new Map<string, string>();

  constructor(options: AddOnManagerOptions) {
    super(options);
    this.#inventory = new AddOnInventory(options);
    this.#namespaces = new MissingNamespaces(options);
    this.#held = new HeldRemovals(options);
    this.reads.push(...this.#inventory.reflectors);
  }

  follow(queue: WorkQueue): void {
    this.#inventory.follow(queue, ({ metadata }) => ({ ...metadata, resourceVersion: undefined }));
    this.#inventory.clusters.store.onChange(({ before, after }) => {
      const [was, is] = [before, after].map((one) => [
        one?.metadata.annotations,
        one?.metadata.deletionTimestamp,
      ]);
      if (JSON.stringify(was) === JSON.stringify(is)) return;
      for (const { metadata } of this.#inventory.addOns.store.list()) queue.add(metadata.name);
    });
  }

  warnings(): readonly string[] {
    const unknown = [...this.#unknown].map(
      ([name, text]) => `add-ons: no cluster loses ${name} at present, because ${text}`,
    );
    const held = this.#held.messages().map((message) => `add-ons: ${message}`);
    return [...unknown.sort(), ...held.toSorted(), ...this.#namespaces.warnings('add-ons')];
  }

  async reconcile(name: string): Promise<ReconcileOutcome> {
    const addOn = this.#inventory.addOn(name);
    const installed = this.#inventory.installed(name);
    if (addOn === undefined || addOn.metadata.deletionTimestamp !== undefined) {
      for (const memory of [this.#unknown, this.#leaving]) memory.delete(name);
      this.#held.forget(name);
      return DONE;
    }
    const plan = planInstall({
      ...{ addOn, installed },
      selectionOf: (placement) => this.#inventory.selectionOf(placement),
      cluster: (cluster) => this.#inventory.cluster(cluster),
    });
    if (plan.unknown === undefined) this.#unknown.delete(name);
    else this.#unknown.set(name, plan.unknown);
    // Clean-up deletes the add-ons of a cluster that goes, and the cache may not show yet that it does.
    const joining = await confirmTakeWork(this.options.hub, plan.joining);
    const waits = await this.#each(joining, (cluster) => this.#install(addOn, cluster));
    if (installPlacements(addOn) !== undefined)
      await this.#each([...this.#inventory.stored(name).values()], (addon) => this.#annotate(addon));
    const again = [...waits, await this.#remove(addOn, installed, plan)].filter((ms) => ms !== undefined);
    return again.length === 0 ? DONE : { kind: 'requeue', afterMs: Math.min(...again) };
  }

  /**
   * One failure does not stop the others.
   * @throws the first error, after all were tried
   */
  async #each<Item, Result>(
    items: readonly Item[],
    act: (item: Item) => Promise<Result>,
  ): Promise<readonly Result[]> {
    const limit = pLimit(CONCURRENCY);
    const results = await Promise.allSettled(items.map((item) => limit(() => act(item))));
    return results.map((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
  }

  /** @returns milliseconds until the next try, if the cluster has no namespace yet */
  async #install({ metadata }: ClusterManagementAddOn, cluster: string): Promise<number | undefined> {
    const { hub, onEvent } = this.options;
    const known = this.#inventory.cluster(cluster);
    if (known === undefined) return undefined;
    const annotations = planAnnotations(undefined, known.metadata);
    const addon = {
      apiVersion: apiVersionOf(MANAGED_CLUSTER_ADDON),
      kind: MANAGED_CLUSTER_ADDON.kind,
      metadata: {
        ...{ namespace: cluster, name: metadata.name },
        ...(annotations && { annotations: annotations as Readonly<Record<string, string>> }),
        ownerReferences: [addOnOwner(metadata)],
      },
      spec: {},
    };
    return this.#namespaces.make(cluster, async () => {
      try {
        await hub.create(MANAGED_CLUSTER_ADDON, addon, { fieldManager: ADDON_MANAGER, metadataOnly: true });
      } catch (error) {
        // Somebody else made it.
        if (error instanceof ConflictError) return;
        throw error;
      }
      onEvent?.({ action: 'installed', addon: metadata.name, cluster });
    });
  }

  async #annotate({ metadata }: KubeObject): Promise<void> {
    const { namespace = '', name, uid, resourceVersion } = metadata;
    const cluster = this.#inventory.cluster(namespace);
    if (cluster === undefined || metadata.deletionTimestamp !== undefined) return;
    const annotations = planAnnotations(metadata, cluster.metadata);
    if (annotations === undefined) return;
    await this.options.hub.mergePatch(
      MANAGED_CLUSTER_ADDON,
      { namespace, name },
      { metadata: { uid, resourceVersion, annotations } },
      { fieldManager: ADDON_MANAGER, metadataOnly: true },
    );
  }

  /** @returns milliseconds until the next look */
  async #remove(
    addOn: ClusterManagementAddOn,
    installed: ReadonlyMap<string, ManagedClusterAddOn>,
    { joining, leaving: planned }: InstallPlan,
  ): Promise<number | undefined> {
    const { clock, budget, digest, removals, isFollowing } = this.options;
    const { name } = addOn.metadata;
    if (planned.length === 0) {
      this.#leaving.delete(name);
      await this.#clear(name);
      return undefined;
    }
    const nowMs = clock.now();
    const { sinceMs, quietSinceMs } = this.#leaving.get(name) ?? { sinceMs: nowMs, quietSinceMs: nowMs };
    const isEarly = isFollowing() && nowMs - sinceMs < MAX_FOLLOW_MS;
    const quietMs = isEarly ? 0 : nowMs - quietSinceMs;
    this.#leaving.set(name, { sinceMs, quietSinceMs: nowMs - quietMs });
    if (quietMs < REMOVAL_GATHER_MS) return REMOVAL_GATHER_MS - quietMs;
    const leaving = await this.#confirmed(addOn, planned);
    if (leaving.length === 0) return REMOVAL_GATHER_MS;
    const before = await removals.read(removalGroupOf(name));
    const stored = [...installed.values()].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    // Whether they are made yet must make no difference: a plan counts them, too.
    const present = stored.length + joining.length;
    const verdict = judgeAddOnRemovals({
      ...{ addOn: name, present, leaving, removals: before, budget, nowMs, digest },
    });
    if (verdict.kind === 'held') {
      await this.#hold(addOn, leaving, verdict);
      return HELD_RECHECK_MS;
    }
    const { code } = leavingClusters(digest, name, leaving);
    await this.#clear(name, verdict.counted > 0 ? undefined : releasedRemoval(leaving, code));
    if (verdict.counted > 0)
      await removals.persist(removalGroupOf(name), [
        ...recentRemovals(before, nowMs),
        { atMs: nowMs, count: verdict.counted },
      ]);
    await this.#each(leaving, (addon) => this.#delete(addon));
    return undefined;
  }

  async #delete({ metadata }: ManagedClusterAddOn): Promise<void> {
    const { namespace = '', name, uid } = metadata;
    if (!(await this.options.hub.delete(MANAGED_CLUSTER_ADDON, { namespace, name }, { uid }))) return;
    this.options.onEvent?.({ action: 'removed', addon: name, cluster: namespace });
  }

  /** Those that leave by what the hub itself says, because they will be deleted: the cache may lag behind. */
  async #confirmed(
    planned: ClusterManagementAddOn,
    leaving: readonly ManagedClusterAddOn[],
  ): Promise<readonly ManagedClusterAddOn[]> {
    const { hub } = this.options;
    const object = (
      await hub.list(CLUSTER_MANAGEMENT_ADDON, { fieldSelector: `metadata.name=${planned.metadata.name}` })
    ).items[0];
    if (object?.metadata.uid !== planned.metadata.uid || object === undefined) return [];
    const placements = installPlacements(readAddOn(object));
    if (placements === undefined) return [];
    const selected = new Set<string>();
    for (const { namespace, name } of placements) {
      const labelSelector = `${PLACEMENT_LABEL}=${name}`;
      const { items } = await hub.list(PLACEMENT_DECISION, { namespace, labelSelector });
      if (items.length === 0) return [];
      for (const { status } of items as unknown as readonly PlacementDecision[])
        for (const { clusterName } of status?.decisions ?? []) selected.add(clusterName);
    }
    return leaving.filter(({ metadata }) => !selected.has(metadata.namespace ?? ''));
  }

  async #hold(
    addOn: ClusterManagementAddOn,
    leaving: readonly ManagedClusterAddOn[],
    { code, message }: { readonly code: string; readonly message: string },
  ): Promise<void> {
    const { name } = addOn.metadata;
    const stored = this.#inventory.addOns.store.get(name);
    if (stored === undefined || !(await this.#held.note(stored, { code, message }))) return;
    const { clusters } = leavingClusters(this.options.digest, name, leaving);
    this.options.onEvent?.({ action: 'removals-held', addon: name, clusters, message, token: code });
  }

  async #clear(name: string, released?: ReleasedRemoval): Promise<void> {
    const stored = this.#inventory.addOns.store.get(name);
    if (stored !== undefined) await this.#held.clear(stored, released);
  }
}

/** A hold of this process. */
interface Kept extends AddOnHold {
  /** When its Event was written or renewed, or this process began to know of it. */
  readonly reportedAtMs: number;
}

type Options = Pick<AddOnManagerOptions, 'hub' | 'clock' | 'log'>;

/**
 * The add-ons that clusters keep because their removal is held. The ClusterManagementAddOn says so in its annotations, which plans and
 * the next process read, and an Event for people who read `kubectl describe`.
 */
export class HeldRemovals {
  readonly #options: Options;
  readonly #held = new Map<string, Kept>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** What is held, as text for users. */
  messages(): readonly string[] {
    return [...this.#held.values()].map(({ message }) => message);
  }

  /** @returns whether nobody knew of it */
  async note(object: KubeObject, { code, message }: Pick<AddOnHold, 'code' | 'message'>): Promise<boolean> {
    const nowMs = this.#options.clock.now();
    const { name } = object.metadata;
    const before = this.#held.get(name) ?? heldRemoval(object);
    const isKnown = before?.code === code;
    const sinceMs = isKnown ? Math.min(before.sinceMs, nowMs) : nowMs;
    const reportedAtMs = isKnown ? (this.#held.get(name)?.reportedAtMs ?? nowMs) : nowMs;
    const held = { code, message, sinceMs };
    this.#held.set(name, { ...held, reportedAtMs });
    await this.#annotate(object, held);
    if (isKnown && nowMs - reportedAtMs < RENEWAL_MS) return false;
    this.#held.set(name, { ...held, reportedAtMs: nowMs });
    await this.#report(object, held, isKnown);
    return !isKnown;
  }

  /** Nothing of the add-on is held. @param released why its removal is not held any more */
  async clear(object: KubeObject, released?: ReleasedRemoval): Promise<void> {
    this.#held.delete(object.metadata.name);
    if (heldRemoval(object) !== undefined || released !== undefined)
      await this.#annotate(object, undefined, released);
  }

  /** The add-on is gone. */
  forget(name: string): void {
    this.#held.delete(name);
  }

  /** Best effort: the hold does not depend on it. */
  async #annotate(
    { metadata }: KubeObject,
    held: AddOnHold | undefined,
    released?: ReleasedRemoval,
  ): Promise<void> {
    const since = formatRfc3339(instantFromEpochMs(held?.sinceMs ?? 0));
    const annotations = { ...heldAnnotations(held && { ...held, since }), ...releasedAnnotations(released) };
    const isSame = Object.entries(annotations).every(
      ([key, value]) => (metadata.annotations?.[key] ?? null) === value,
    );
    if (isSame) return;
    const { name, uid } = metadata;
    await this.#try('a hold was not written to its add-on', name, () =>
      this.#options.hub.mergePatch(
        CLUSTER_MANAGEMENT_ADDON,
        { namespace: '', name },
        { metadata: { uid, annotations } },
        { fieldManager: ADDON_MANAGER, metadataOnly: true },
      ),
    );
  }

  async #report(
    { metadata }: KubeObject,
    { code, message, sinceMs }: AddOnHold,
    isKnown: boolean,
  ): Promise<void> {
    const { hub, clock } = this.#options;
    const { name, uid = '' } = metadata;
    const event = eventAbout(
      { kind: CLUSTER_MANAGEMENT_ADDON, namespace: '', name, uid },
      { type: 'Warning', reason: 'Held', action: 'Remove', note: message.slice(0, 1_000) },
      { controller: ADDON_MANAGER, instance: ADDON_MANAGER, nowMs: sinceMs, suffix: `held-${code}` },
    );
    await this.#try('an Event was not written', name, async () => {
      if (isKnown) await renewEvent(hub, event, { sinceMs, nowMs: clock.now() });
      else await hub.create(EVENT, event, { metadataOnly: true });
    });
  }

  async #try(what: string, addon: string, write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      // It is there already, or the object has changed and is looked at again.
      if (error instanceof ConflictError) return;
      this.#options.log[error instanceof InputError ? 'warn' : 'debug'](what, { addon, error });
    }
  }
}
