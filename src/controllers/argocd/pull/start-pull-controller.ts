import { mayBeAllowedLater } from '@berth/kube/transport/kube-errors';
import type { ObjectChange } from '@berth/kube/cache/object-store';
import { ConflictError } from '@berth/runtime/errors';
import { FailingKeys } from '@berth/runtime/loop/failing-keys';
import { hostingSetOfWork, hubApplicationOf, removalGroup } from '../../../core/argocd/pull/pull-target.ts';
import { type ManagedCluster, takesWork } from '@berth/ocm/kind/managed-cluster';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { namespacedName } from '@berth/kube/model/object-ref';
import { formatNameList } from '@berth/runtime/text/name-list';
import { runReconciler, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { WorkQueue } from '@berth/runtime/loop/work-queue';
import { MissingNamespaces } from '../../inventory/missing-namespaces.ts';
import { HeldRemovals } from './held-removals.ts';
import { isUnreachable, PullInventory } from './pull-inventory.ts';
import type { PullOptions } from './pull-options.ts';
import { ApplicationReconciler } from './reconcile-application.ts';
import { removeWorks } from './remove-works.ts';
import { SetReports } from './write-set-report.ts';

/** The figures of the pull model in `/metrics`. */
export interface PullMetrics {
  readonly works: number;
  /** Groups whose removals are held. */
  readonly held: number;
  /** Works with a deletion timestamp, whose clusters have not confirmed the removal. */
  readonly unconfirmed: number;
}

export interface PullController {
  /** Resolves when all kinds have been listed and all Applications have been reconciled once. */
  whenIdle(): Promise<void>;
  /** What fails, is held or is not confirmed at the moment, as text for users. */
  warnings(): readonly string[];
  figures(): PullMetrics;
  /**
   * Why works on the cluster must stay until this controller removes them: their removal is held, or not judged yet.
   */
  leavingOn(cluster: string): readonly string[];
  close(): Promise<void>;
}

/** Related removals arrive one by one. They are judged together when this time has passed since the first one. */
const GATHER_MS = 1_000;
const REPORT_MS = 2_000;
const WORKERS = 4;

/** Runs the pull model of Argo CD: Applications on the hub become ManifestWorks, and the status comes back. */
export function startPullController(options: PullOptions): PullController {
  const { hub, cache, clock, log, random, mayBegin, onError } = options;
  const supervisor = new Supervisor({ clock, random, log });
  const inventory = new PullInventory(cache);
  const held = new HeldRemovals();
  const namespaces = new MissingNamespaces({ clock, random, log });
  const failing = new FailingKeys('passes of the pull model');
  const [applications, removals, reports] = [0, 1, 2].map(() => new WorkQueue(clock)) as [
    WorkQueue,
    WorkQueue,
    WorkQueue,
  ];
  const addAll = (keys: Iterable<string>): void => {
    for (const key of keys) applications.add(key);
  };
  const reconciler = new ApplicationReconciler({
    ...options,
    inventory,
    namespaces,
    held,
    onLeaving: (group) => removals.addAfter(group, GATHER_MS),
  });
  const setReports = new SetReports({ hub, clock, inventory });
  const removal = { ...options, inventory, held, onHoldChanged: addAll };
  enqueueOnChange(inventory, { addAll, reports, waiting: () => reconciler.waiting });
  const { signal } = supervisor;
  const synced = Promise.all(inventory.reflectors.map((reflector) => reflector.whenSynced(signal)));
  const run = (
    name: string,
    queue: WorkQueue,
    concurrency: number,
    reconcile: (key: string) => Promise<ReconcileOutcome>,
  ): void =>
    supervisor.start(name, async (stop) => {
      // Until every kind has been listed, a work looks as if it had no Application.
      await synced;
      await runReconciler(
        {
          ...{ clock, log, random, name, queue, concurrency, mayBegin },
          isRetryable: mayBeAllowedLater,
          reconcile: async (key) => {
            const outcome = await reconcile(key);
            failing.succeeded(`${name} ${key}`);
            return outcome;
          },
          onError: (key, error) => {
            // Another writer was faster: its event starts the next pass.
            if (error instanceof ConflictError) return;
            failing.failed(`${name} ${key}`, error);
            onError?.(key, error);
          },
        },
        stop,
      );
    });
  run('pulled Application', applications, WORKERS, (key) => reconciler.reconcile(key));
  // One group at a time, because a removal in one group counts for the next.
  run('removal of pulled works', removals, 1, (group) => removeWorks(group, removal));
  run('report of an ApplicationSet', reports, 1, (set) => setReports.reconcile(set));
  return {
    whenIdle: async () => {
      await synced;
      await Promise.all([applications.whenIdle(), removals.whenIdle()]);
    },
    warnings: () => [...warningsOf(inventory, held, namespaces), ...failing.warnings()],
    figures: () => figuresOf(inventory, held),
    leavingOn: (cluster) => leavingOn(cluster, inventory, held),
    close: () => supervisor.close(),
  };
}

function figuresOf(inventory: PullInventory, held: HeldRemovals): PullMetrics {
  const works = inventory.works.store
    .list()
    .filter((work) => removalGroup(work as unknown as ManifestWork) !== undefined).length;
  return {
    works,
    held: held.all.length,
    unconfirmed: inventory.unconfirmedRemovals().length,
  };
}

function leavingOn(cluster: string, inventory: PullInventory, held: HeldRemovals): readonly string[] {
  const applications = inventory.works.store
    .list()
    .filter(({ metadata }) => metadata.namespace === cluster)
    .flatMap((work) => hubApplicationOf(work) ?? []);
  const leaving = [...new Set(applications)].filter((key) =>
    inventory.leavingOf(key).some(({ work }) => work.metadata.namespace === cluster),
  );
  const texts = leaving.map(
    (key) => held.messageOf(key) ?? `the removal of Application ${key} is not judged yet`,
  );
  return [...new Set(texts)].sort();
}

function warningsOf(
  inventory: PullInventory,
  held: HeldRemovals,
  namespaces: MissingNamespaces,
): readonly string[] {
  const away = inventory
    .unconfirmedRemovals()
    .filter(({ metadata }) => inventory.isUnreachable(metadata.namespace ?? ''));
  const names = away.map(({ metadata }) => namespacedName(metadata)).sort();
  return [
    ...inventory.warnings(),
    ...namespaces.warnings('pull model'),
    ...held.all.map(({ message }) => `pull model: ${message}`),
    ...(names.length === 0
      ? []
      : [
          `pull model: ${names.length} works were removed from clusters that do not answer, where their Applications may still run: ${formatNameList(names)}`,
        ]),
  ];
}

interface Queues {
  readonly addAll: (keys: Iterable<string>) => void;
  readonly reports: WorkQueue;
  readonly waiting: () => readonly string[];
}

/** Objects that are already in the cache are enqueued, too: it may have been filled before. */
function enqueueOnChange(inventory: PullInventory, queues: Queues): void {
  const { addAll } = queues;
  addAll(inventory.applications.store.list().map(({ metadata }) => namespacedName(metadata)));
  for (const work of inventory.works.store.list())
    workChanged({ key: '', before: undefined, after: work }, inventory, queues);
  inventory.applications.store.onChange(({ key }) => addAll([key]));
  inventory.works.store.onChange((change) => workChanged(change, inventory, queues));
  inventory.clusters.store.onChange((change) => {
    if (isSameCluster(change)) return;
    addAll(inventory.applicationsOf(change.key));
    // Applications that wait for the removal of a copy on this cluster show in their status whether it answers.
    for (const work of inventory.unconfirmedRemovals())
      if (work.metadata.namespace === change.key) addAll(groupKeys(inventory, work));
  });
}

function workChanged(
  { before, after }: ObjectChange,
  inventory: PullInventory,
  { addAll, reports, waiting }: Queues,
): void {
  const works = [before, after].filter((work) => work !== undefined) as unknown as readonly ManifestWork[];
  for (const work of works) {
    const key = hubApplicationOf(work);
    if (key !== undefined) addAll([key]);
    const set = hostingSetOfWork(work);
    if (set !== undefined) reports.addAfter(set, REPORT_MS);
  }
  const [first] = works;
  if (first === undefined || hubApplicationOf(first) === undefined) return;
  const isLeaving =
    after === undefined || after.metadata.deletionTimestamp !== before?.metadata.deletionTimestamp;
  if (!isLeaving || before === undefined) return;
  addAll(waiting());
  // A hold counts the works that stay. The status of a copy elsewhere says that this one may still run.
  if (inventory.isUnreachable(first.metadata.namespace ?? '')) addAll(groupKeys(inventory, first));
}

function groupKeys(inventory: PullInventory, work: ManifestWork): readonly string[] {
  const group = removalGroup(work);
  return group === undefined
    ? []
    : inventory.worksOfGroup(group).map((other) => hubApplicationOf(other) ?? '');
}

/** Whether nothing changed that the status of an Application says about its cluster. */
function isSameCluster({ before, after }: ObjectChange): boolean {
  if (before === undefined || after === undefined) return false;
  return (
    takesWork(before) === takesWork(after) &&
    isUnreachable(before as unknown as ManagedCluster) === isUnreachable(after as unknown as ManagedCluster)
  );
}
