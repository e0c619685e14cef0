import type { ObjectCache } from '@berth/kube/cache/object-cache';
import type { ObjectChange } from '@berth/kube/cache/object-store';
import { findCondition } from '@berth/kube/model/condition-list';
import { MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { mayBeAllowedLater } from '@berth/kube/transport/kube-errors';
import { type ManagedCluster, takesWork } from '@berth/ocm/kind/managed-cluster';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { REPLICA_SET_LABEL } from '@berth/ocm/kind/manifest-work-replica-set';
import type { Clock } from '@berth/runtime/clock/clock';
import { ConflictError, InputError } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import { runReconciler, DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { WorkQueue } from '@berth/runtime/loop/work-queue';
import type { RolloutRules } from '../../core/rollout/rollout-plan.ts';
import { STATUS_RIVAL_TEXT, FailingReplicaSets } from '../../core/work/replica-set/status-rivals.ts';
import { MissingNamespaces } from '../inventory/cluster-namespaces.ts';
import { ReplicaSetReconciler } from './reconcile-replica-set.ts';
import { WorkInventory } from './work-inventory.ts';
import type { WorkWritten } from './write-works.ts';

export interface WorkControllersOptions {
  readonly hub: KubeApi;
  /** The cache of the same hub. It keeps the manifests of the works of replica sets (see trimWork). The caller starts it. */
  readonly cache: ObjectCache;
  readonly clock: Clock;
  readonly log: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Default: Berth's own rules (see docs/rollouts.md). */
  readonly rules?: RolloutRules | undefined;
  /** Replica sets reconciled at the same time. Default: 4. */
  readonly workers?: number | undefined;
  /** Whether this process writes the works of replica sets in the namespace, and cleans up works in it. Default: always. */
  readonly owns?: ((namespace: string) => boolean) | undefined;
  /** Awaited before each write for a replica set or a work. Default: no wait. */
  readonly mayBegin?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly onWrite?: ((event: WorkWritten) => void) | undefined;
  readonly onError?: ((key: string, error: unknown) => void) | undefined;
}

export interface WorkControllers {
  /** Resolves when all kinds have been listed and the first pass is complete. */
  whenIdle(): Promise<void>;
  /** What fails at the moment, as text for users. Berth retries all of it. */
  warnings(): readonly string[];
  close(): Promise<void>;
}

/** Runs the controllers for works on the hub: ManifestWorkReplicaSet to ManifestWorks, and the deletion of completed works. */
export function startWorkControllers(options: WorkControllersOptions): WorkControllers {
  const { hub, cache, clock, log, random, mayBegin, owns = () => true } = options;
  const supervisor = new Supervisor({ clock, random, log });
  const inventory = new WorkInventory(cache);
  const failing = new FailingReplicaSets();
  const namespaces = new MissingNamespaces({ clock, random, log });
  const replicaSets = new WorkQueue(clock);
  const completed = new WorkQueue(clock);
  const synced = Promise.all(
    inventory.reflectors.map((reflector) => reflector.whenSynced(supervisor.signal)),
  );
  const unsubscribe = enqueueOnChange(inventory, replicaSets, completed, owns);
  const reconciler = new ReplicaSetReconciler({
    ...options,
    inventory,
    rules: options.rules ?? 'berth',
    writeConcurrency: 8,
    namespaces,
    ...rivalHandlers(failing, options.onError),
  });
  const shared = { clock, random, log, mayBegin, isRetryable: mayBeAllowedLater };
  // Nothing is decided until every kind has been listed: an incomplete inventory would look as if clusters had been removed.
  supervisor.start('replica sets', async (signal) => {
    await synced;
    await runReconciler(
      {
        ...shared,
        name: 'ManifestWorkReplicaSet',
        queue: replicaSets,
        concurrency: options.workers ?? 4,
        reconcile: async (key) => {
          const outcome = await reconciler.reconcile(key);
          failing.succeeded(key);
          return outcome;
        },
        onError: (key, error) => {
          // Another writer was faster. Its event starts the next pass, so nothing is reported.
          if (error instanceof ConflictError) return;
          failing.failed(key, error);
          options.onError?.(key, error);
        },
      },
      signal,
    );
  });
  const cleanUp = (key: string): Promise<ReconcileOutcome> =>
    collectCompletedWork(inventory.works.store.get(key) as ManifestWork | undefined, { hub, clock });
  supervisor.start('completed works', async (signal) => {
    await synced;
    const loop = { name: 'ManifestWork clean-up', queue: completed, concurrency: 1, reconcile: cleanUp };
    await runReconciler({ ...shared, ...loop }, signal);
  });
  return {
    whenIdle: async () => {
      await synced;
      await Promise.all([replicaSets.whenIdle(), completed.whenIdle()]);
    },
    warnings: () => [...inventory.warnings(), ...namespaces.warnings('works'), ...failing.warnings()],
    close: () => {
      unsubscribe();
      return supervisor.close();
    },
  };
}

function rivalHandlers(failing: FailingReplicaSets, onError: WorkControllersOptions['onError']) {
  return {
    onYield: (key: string): void => {
      failing.yielded(key);
      const subject = `ManifestWorkReplicaSet ${key}`;
      onError?.(key, new InputError(STATUS_RIVAL_TEXT, { code: 'works.second-writer', subject }));
    },
    onResume: (key: string): void => failing.resumed(key),
  };
}

/**
 * Objects that are already in the cache are enqueued now.
 * @returns a function that ends it
 */
function enqueueOnChange(
  inventory: WorkInventory,
  queue: WorkQueue,
  completed: WorkQueue,
  owns: (namespace: string) => boolean,
): () => void {
  const { replicaSets, works, placements, clusters, decisions } = inventory;
  const addAll = (keys: readonly string[]): void => {
    for (const key of keys) if (owns(key.slice(0, key.indexOf('/')))) queue.add(key);
  };
  const addCompleted = (work: KubeObject): void => {
    const { namespace = '' } = work.metadata;
    if (deletionDueMs(work as unknown as ManifestWork) !== undefined && owns(namespace))
      completed.add(namespacedName(work.metadata));
  };
  addAll(replicaSets.store.list().map(({ metadata }) => namespacedName(metadata)));
  works.store.list().forEach(addCompleted);
  const subscriptions = [
    replicaSets.store.onChange(({ key }) => addAll([key])),
    works.store.onChange((change) => {
      addAll(inventory.replicaSetsOf(change, 'work'));
      if (change.after !== undefined) addCompleted(change.after);
    }),
    placements.store.onChange((change) => addAll(inventory.replicaSetsOf(change, 'placement'))),
    clusters.store.onChange((change) => {
      if (valuesChanged(change)) addAll(inventory.substitutingReplicaSets());
      if (takesWork(change.before) !== takesWork(change.after)) addAll(inventory.replicaSetsOn(change.key));
    }),
    decisions.store.onChange((change) => addAll(inventory.replicaSetsOf(change, 'decision'))),
  ];
  return () => subscriptions.forEach((end) => end());
}

/** Templates can use labels and claims, but not heartbeats and conditions. */
function valuesChanged({ before, after }: ObjectChange): boolean {
  const values = (object: ObjectChange['after']): string => {
    const cluster = object as unknown as ManagedCluster | undefined;
    return JSON.stringify([cluster?.metadata.labels, cluster?.status?.clusterClaims]);
  };
  return values(before) !== values(after);
}

/**
 * When a completed work is deleted, milliseconds since the epoch; undefined: never. 0 and less:
 * immediately.
 */
function deletionDueMs(work: ManifestWork): number | undefined {
  const ttlSeconds = work.spec?.deleteOption?.ttlSecondsAfterFinished;
  if (ttlSeconds === undefined || ttlSeconds === null) return undefined;
  if (work.metadata.deletionTimestamp !== undefined) return undefined;
  // Works of a replica set are deleted by their replica set.
  if (work.metadata.labels?.[REPLICA_SET_LABEL] !== undefined) return undefined;
  const complete = findCondition(work.status?.conditions, 'Complete');
  if (complete?.status !== 'True') return undefined;
  const since = Date.parse(complete.lastTransitionTime ?? '');
  if (ttlSeconds <= 0) return 0;
  return Number.isNaN(since) ? undefined : since + ttlSeconds * 1000;
}

/** Deletes a ManifestWork that has been Complete for longer than its ttlSecondsAfterFinished. */
async function collectCompletedWork(
  work: ManifestWork | undefined,
  { hub, clock }: { readonly hub: KubeApi; readonly clock: Clock },
): Promise<ReconcileOutcome> {
  const dueMs = work === undefined ? undefined : deletionDueMs(work);
  if (work === undefined || dueMs === undefined) return DONE;
  const remainingMs = dueMs - clock.now();
  if (remainingMs > 0) return { kind: 'requeue', afterMs: remainingMs };
  const { namespace = '', name, uid, resourceVersion } = work.metadata;
  await hub.delete(MANIFEST_WORK, { namespace, name }, { uid, resourceVersion });
  return DONE;
}
