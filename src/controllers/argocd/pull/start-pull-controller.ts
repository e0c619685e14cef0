import type { ObjectChange } from '@berth/kube/cache/object-store';
import { apiVersionOf, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { mayBeAllowedLater } from '@berth/kube/transport/kube-errors';
import { type ManagedCluster, takesWork } from '@berth/ocm/kind/managed-cluster';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { Clock } from '@berth/runtime/clock/clock';
import { ConflictError } from '@berth/runtime/errors';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { FailingKeys } from '@berth/runtime/loop/failing-keys';
import { runReconciler, type ReconcileOutcome, DONE } from '@berth/runtime/loop/reconciler';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { WorkQueue } from '@berth/runtime/loop/work-queue';
import { formatNameList } from '@berth/runtime/text/name-list';
import pLimit from 'p-limit';
import {
  type Application,
  APPLICATION,
  APPLICATION_SET_REPORT,
  asApplication,
} from '../../../core/argocd/argocd-kinds.ts';
import { judgePullRemovals } from '../../../core/argocd/pull/judge-removals.ts';
import { planPull, type WorkToRemove } from '../../../core/argocd/pull/plan-pull.ts';
import {
  HOSTING_SET_KEY,
  hostingSetOfWork,
  hubApplicationOf,
  removalGroup,
} from '../../../core/argocd/pull/pull-target.ts';
import { renderSetReport } from '../../../core/argocd/pull/render-set-report.ts';
import { recentRemovals } from '../../../core/publish/judge/removal-budget.ts';
import { MissingNamespaces } from '../../inventory/cluster-namespaces.ts';
import {
  HeldRemovals,
  isUnreachable,
  PULL_FIELD_MANAGER,
  PullInventory,
  type PullOptions,
} from './pull-inventory.ts';
import { ApplicationReconciler } from './reconcile-application.ts';

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

interface SetReportsOptions {
  readonly hub: KubeApi;
  readonly clock: Clock;
  readonly inventory: PullInventory;
}

/** After this time Berth checks again whether the hub serves the kind. */
const RECHECK_MS = 300_000;

/** Writes a MulticlusterApplicationSetReport for each ApplicationSet with pulled Applications, if the hub serves the kind. */
class SetReports {
  readonly #options: SetReportsOptions;
  /** The content of each report; read from the hub once. */
  readonly #written = new Map<string, KubeObject | undefined>();
  #served: { readonly atMs: number; readonly isServed: Promise<boolean> } | undefined;

  constructor(options: SetReportsOptions) {
    this.#options = options;
  }

  /** @param set `namespace/name` of the ApplicationSet */
  async reconcile(set: string): Promise<ReconcileOutcome> {
    const { hub, inventory } = this.#options;
    if (!(await this.#isServed())) return DONE;
    const [namespace = '', name = ''] = set.split('/');
    const key = { namespace, name };
    if (!this.#written.has(set)) this.#written.set(set, await hub.get(APPLICATION_SET_REPORT, key));
    const before = this.#written.get(set);
    const works = inventory.worksOfGroup(`ApplicationSet ${set}`);
    if (works.length === 0) {
      // A report without the label belongs to another writer.
      if (before?.metadata.labels?.[HOSTING_SET_KEY] !== undefined)
        await hub.delete(APPLICATION_SET_REPORT, key, { uid: before.metadata.uid });
      this.#written.delete(set);
      return DONE;
    }
    const report = renderSetReport(set, works);
    if (isSame(before, report)) return DONE;
    const options = { ...PULL_FIELD_MANAGER, force: true };
    this.#written.set(set, await hub.apply(APPLICATION_SET_REPORT, report, options));
    return DONE;
  }

  async #isServed(): Promise<boolean> {
    const { hub, clock } = this.#options;
    if (this.#served === undefined || clock.now() - this.#served.atMs > RECHECK_MS) {
      const { kind } = APPLICATION_SET_REPORT;
      const isServed = hub
        .resolve(apiVersionOf(APPLICATION_SET_REPORT), kind)
        .then((found) => found !== undefined);
      this.#served = { atMs: clock.now(), isServed };
      isServed.catch(() => (this.#served = undefined));
    }
    return this.#served.isServed;
  }
}

function isSame(before: KubeObject | undefined, report: KubeObject): boolean {
  const label = before?.metadata.labels?.[HOSTING_SET_KEY];
  return (
    label === report.metadata.labels?.[HOSTING_SET_KEY] && jsonEqual(before?.['statuses'], report['statuses'])
  );
}

interface RemoveWorksOptions
  extends Pick<PullOptions, 'hub' | 'clock' | 'digest' | 'budget' | 'removals' | 'onWrite' | 'onHeld'> {
  readonly inventory: PullInventory;
  readonly held: HeldRemovals;
  /** Called when a hold of these Applications began or ended. */
  readonly onHoldChanged: (applications: Iterable<string>) => void;
}

/** Recent removals leave the window without an event. */
const HELD_RECHECK_MS = 60_000;

/** Removes the works of one group that no longer carry an Application: all of them, or none (see judgePullRemovals). */
async function removeWorks(group: string, options: RemoveWorksOptions): Promise<ReconcileOutcome> {
  const { inventory, held, clock, removals, onHeld, onHoldChanged } = options;
  const nowMs = clock.now();
  const before = await removals.read(group);
  const leaving = await confirmedLeaving(group, options);
  const present = inventory
    .worksOfGroup(group)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined).length;
  const replaced = leaving.filter(({ reason }) => reason === 'replaced').length;
  const verdict = judgePullRemovals({
    ...options,
    group,
    present: present - replaced,
    leaving,
    removals: before,
    nowMs,
  });
  const applications = new Set(leaving.map(({ work }) => hubApplicationOf(work) ?? ''));
  if (verdict.kind === 'held') {
    const { code, message } = verdict;
    if (held.hold({ group, token: code, message }, applications)) {
      onHeld?.({ group, token: code, message });
      onHoldChanged(applications);
    }
    return { kind: 'requeue', afterMs: HELD_RECHECK_MS };
  }
  onHoldChanged(held.release(group));
  if (verdict.counted > 0)
    await removals.persist(group, [
      ...recentRemovals(before, nowMs),
      { atMs: nowMs, count: verdict.counted },
    ]);
  await deleteAll(leaving, options);
  return DONE;
}

/** Concurrent requests to the hub. */
const CONCURRENCY = 8;

/** The works to remove, read from the hub and not from the cache, because they will be deleted. */
async function confirmedLeaving(
  group: string,
  { inventory, hub }: RemoveWorksOptions,
): Promise<readonly WorkToRemove[]> {
  const keys = new Set(inventory.worksOfGroup(group).map((work) => hubApplicationOf(work) ?? ''));
  const isOpen = (name: string): boolean => inventory.takesWork(name);
  const leavingOf = (key: string, application: Application | undefined): readonly WorkToRemove[] =>
    planPull({ application, works: inventory.worksOf(key), takesWork: isOpen }).leaving;
  const candidates = [...keys].filter((key) => leavingOf(key, inventory.application(key)).length > 0);
  const limit = pLimit(CONCURRENCY);
  const confirmed = candidates.map((key) =>
    limit(async () => {
      const [namespace = '', name = ''] = key.split('/');
      const live = await hub.get(APPLICATION, { namespace, name });
      return leavingOf(key, live === undefined ? undefined : asApplication(live));
    }),
  );
  return (await Promise.all(confirmed)).flat();
}

/**
 * One failure does not stop the others.
 * @throws the first error, after all were tried
 */
async function deleteAll(
  leaving: readonly WorkToRemove[],
  { hub, onWrite }: RemoveWorksOptions,
): Promise<void> {
  const limit = pLimit(CONCURRENCY);
  const results = await Promise.allSettled(
    leaving.map(({ work, reason }) =>
      limit(async () => {
        const { namespace = '', name, uid } = work.metadata;
        if (!(await hub.delete(MANIFEST_WORK, { namespace, name }, { uid }))) return;
        const application = hubApplicationOf(work) ?? '';
        onWrite?.({ action: 'deleted', application, cluster: namespace, work: name, reason });
      }),
    ),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
