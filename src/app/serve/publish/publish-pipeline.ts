import { sha256 } from '../../../adapters/store/world-digest.ts';
import { mayBeAllowedLater } from '../../../adapters/kube/kube-errors.ts';
import { ConflictError } from '../../../core/errors.ts';
import type { ObjectChange } from '../../../adapters/kube/object-store.ts';
import { DEFAULT_MAX_REQUESTS } from '../../../adapters/kube/request-slots.ts';
import { decisionOwner } from '../../../core/placement/decision-owner.ts';
import { lostBecause } from '../../../core/explain/lost-because.ts';
import type { KubeObject } from '../../../core/model/object-meta.ts';
import type { Clock, KubeApi, Logger } from '../../../core/ports.ts';
import type { Placement } from '../../../core/model/placement.ts';
import type { EachResult } from '../../../core/placement/engine.ts';
import type { ScheduleResult } from '../../../core/placement/schedule-result.ts';
import { clusterChange } from '../../../core/publish/cluster-change.ts';
import { decisionPageOf, publishedClusters } from '../../../core/publish/decision-page.ts';
import type { RemovalBudget } from '../../../core/publish/removal-budget.ts';
import type { HubBreak, HubPosition } from '../../../core/sync/hub-position.ts';
import type { World } from '../../../core/snapshot/world.ts';
import { Transitions } from '../../../core/transition/transition.ts';
import { listNames } from '../../../core/publish/judge-result.ts';
import { SCHEDULER_ANNOTATION } from '../../../core/publish/publish-annotations.ts';
import { SCHEDULING_DISABLE_ANNOTATION } from '../../../core/model/placement.ts';
import { canonicalJson } from '../../../core/model/json-equal.ts';
import { type Leadership, SOLE_LEADER } from '../../../runtime/leader-election/leadership.ts';
import { runReconciler } from '../../../runtime/reconciler.ts';
import type { Supervisor } from '../../../runtime/supervisor.ts';
import { WorkQueue } from '../../../runtime/work-queue.ts';
import type { DecisionRecorder } from './decision-recorder.ts';
import type { CommitBarrier } from '../sync/commit-barrier.ts';
import { DecisionView, placementsOf } from './decision-view.ts';
import { EarlyNews } from './early-news.ts';
import type { FleetHappening } from '../fleet-events.ts';
import type { HubInventory } from '../hub-inventory.ts';
import { PageWriter } from './page-writer.ts';
import { PlacementPublisher } from './placement-publisher.ts';
import type { PlanApprovals } from './plan-approvals.ts';
import type { PublishMemory } from './publish-memory.ts';
import { PublishedBeforeRestore } from './published-before-restore.ts';
import type { PublishedBook } from './published-book.ts';
import type { FreshDecision } from '../scheduling-loop.ts';
import { SchedulingLoop } from '../scheduling-loop.ts';
import type { UnrecordedPublications } from './unrecorded-publications.ts';
import { isWorkReady } from './work-readiness.ts';
import { WholeWorlds } from './whole-worlds.ts';
import { outcomeOf, WrittenObjects } from './written-objects.ts';

export interface PipelineOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly inventory: HubInventory;
  readonly memory: PublishMemory;
  readonly recall?: ((placement: Placement) => Promise<void>) | undefined;
  readonly recorder: DecisionRecorder;
  readonly unrecorded: UnrecordedPublications;
  /** The hub was found restored from a backup: what it shows may be older than what was published last. */
  readonly isHubRestored: () => boolean;
  readonly book: PublishedBook;
  readonly budgetOf: (placement: Placement) => RemovalBudget;
  readonly approvals: PlanApprovals;
  readonly barrier: CommitBarrier;
  /** One result per placement, each computed when it is asked for. */
  readonly decide: (world: World) => EachResult;
  /** A commit is on its way to the hub. Default: never. */
  readonly isFollowing?: () => boolean;
  /** Which of several processes publishes; the others only decide. Default: this one. */
  readonly leadership?: Leadership | undefined;
  readonly emit: (happening: FleetHappening) => void;
  readonly onPass: (tookMs: number) => void;
}

/** Placements published at the same time: twice the requests that may be under way, so that the next ones are made while the hub works. */
const CONCURRENCY = 2 * DEFAULT_MAX_REQUESTS;
/** So many writes by others within this time are no accident. */
const RIVAL_WRITES = 3;
const RIVAL_WINDOW_MS = 600_000;

/** Inventory changes in, decisions on the hub out: scheduling and publishing with `schedule: berth`. */
export class PublishPipeline {
  readonly scheduling: SchedulingLoop;
  readonly queue: WorkQueue;
  readonly #options: PipelineOptions;
  readonly #placements: WrittenObjects;
  readonly #view: DecisionView;
  readonly #publisher: PlacementPublisher;
  readonly #early = new EarlyNews();
  readonly #wholeWorlds: WholeWorlds;
  /** When others changed pages of a placement, the last times. */
  readonly #foreignWrites = new Map<string, readonly number[]>();
  readonly #leadership: Leadership;
  readonly #beforeRestore = new PublishedBeforeRestore();
  /** Per world in which a transition ended, the one in which it began: as the hub was. */
  readonly #starts = new WeakMap<World, World>();

  constructor(options: PipelineOptions) {
    const { api, clock, inventory, recorder, book, emit } = options;
    this.#options = options;
    this.#leadership = options.leadership ?? SOLE_LEADER;
    this.queue = new WorkQueue(clock);
    this.#wholeWorlds = new WholeWorlds({
      barrier: options.barrier,
      revision: () => inventory.inputs.reduce((sum, { store }) => sum + store.revision, 0),
      lookAgain: (key) => this.queue.add(key),
      decideAgain: (key) => this.scheduling.request('inputs', key),
    });
    this.#placements = new WrittenObjects(inventory.placements.store);
    this.#view = new DecisionView(inventory.decisions.store);
    this.#publisher = new PlacementPublisher({
      ...options,
      digest: sha256,
      placements: this.#placements,
      view: this.#view,
      beforeRestore: this.#beforeRestore,
      writer: new PageWriter(api, this.#view),
      resultOf: (key) => this.scheduling.resultOf(key),
      inventoryProblem: (placement) => inventory.problemFor(placement),
      worksProblem: () => inventory.worksProblem(),
      isOfOneCommit: (key, result) => this.#wholeWorlds.isWhole(key, this.#startOf(result)),
      wasDecidedKnowing: (key, result, clusters) => {
        const world = this.#startOf(result);
        const own = (world?.decisions ?? []).filter((page) => decisionOwner(page) === key);
        const known = new Set(own.flatMap(({ status }) => status?.decisions ?? []).map((d) => d.clusterName));
        return world === undefined || clusters.every((cluster) => known.has(cluster));
      },
      decideAgain: (key) => this.scheduling.request('decisions', key),
      isHubCompared: () => options.barrier.isHubCompared,
      isReady: (placement, cluster) => isWorkReady(inventory.works.store, placement, cluster),
      lostBecause: (result, clusters) => {
        const world = recorder.worldOf(result);
        return world === undefined ? [] : lostBecause(world, result.placement, clusters);
      },
      record: (entry) => recorder.record(entry),
      onSettled: (placement, pages) => book.set(placement, pages),
    });
    const transitions = new Transitions({
      decide: options.decide,
      outcomeOf: (key, result) => this.#publisher.outcomeOf(key, result),
    });
    this.scheduling = new SchedulingLoop({
      clock,
      world: () => this.#wholeWorlds.made(inventory.world()),
      transition: (world) => transitions.run(world),
      onEach: ({ world, result, start }) => {
        recorder.saw(world, result);
        this.#starts.set(world, start);
      },
      // What another process publishes the watch shows when it does.
      whenPublished: async () => {
        if (!this.#leadership.isHeld) return;
        await this.queue.whenIdle();
        await this.#view.whenShown();
      },
      onRestless: (keys) =>
        options.log.warn('decisions keep changing each other, so the last ones stay', {
          placements: listNames(keys),
        }),
      ...(options.isFollowing && { isFollowing: options.isFollowing }),
      onResult: (decision) => emit(this.#decided(decision)),
      enqueue: (key) => this.queue.add(key),
      onPass: options.onPass,
    });
    this.#listen();
  }

  start(supervisor: Supervisor): void {
    const { inventory, unrecorded, clock, random, log, emit } = this.#options;
    supervisor.start('scheduling', async (signal) => {
      // Half a picture looks like clusters that left.
      await Promise.all([inventory.whenSynced(signal), unrecorded.whenLoaded()]);
      await this.scheduling.run(signal);
    });
    supervisor.start('publishing', (signal) =>
      runReconciler(
        {
          name: 'publish',
          queue: this.queue,
          reconcile: (key) => this.#early.during(key, () => this.#publisher.reconcile(key)),
          concurrency: CONCURRENCY,
          clock,
          random,
          log,
          mayBegin: (stop) => this.#leadership.whenHeld(stop),
          mayPass: mayBeAllowedLater,
          onError: (key, error) => {
            // Losing a race is not news.
            if (!(error instanceof ConflictError)) emit({ kind: 'error', where: `placement ${key}`, error });
          },
        },
        signal,
      ),
    );
  }

  /** The hub was restored or replaced; the watches do not show it yet. */
  hubChanged(how: HubBreak, { resourceVersion }: HubPosition): void {
    if (how === 'restored' && !this.#leadership.isHeld) {
      const placements = this.#options.inventory.placements.store.list() as unknown as readonly Placement[];
      this.#beforeRestore.keep(placements, this.#view, resourceVersion);
    }
    this.#placements.forgetAll();
    this.#view.forgetAll();
  }

  /** Somebody else writes the pages that Berth writes. */
  warnings(): readonly string[] {
    const since = this.#options.clock.now() - RIVAL_WINDOW_MS;
    const rivals = [...this.#foreignWrites].filter(
      ([, timesMs]) => timesMs.filter((atMs) => atMs > since).length >= RIVAL_WRITES,
    );
    if (rivals.length === 0) return [];
    const names = rivals.map(([placement]) => placement).sort();
    return [
      `another controller keeps writing the PlacementDecisions of ${listNames(names)}: two schedulers run; set the annotation ` +
        `${SCHEDULING_DISABLE_ANNOTATION}: "true" together with ${SCHEDULER_ANNOTATION}: berth on them, or use schedule: upstream`,
    ];
  }

  /** Resolves after the first pass over everything that was there at the start; where another process leads, when that is decided. */
  async whenSettled(signal: AbortSignal): Promise<void> {
    const { inventory, clock } = this.#options;
    await inventory.whenSynced(signal);
    while (this.scheduling.passes === 0 && !signal.aborted)
      await new Promise<void>((resolve) => clock.schedule(10, resolve));
    await this.#leadership.whenDecided(signal);
    if (!signal.aborted && this.#leadership.isHeld) await this.queue.whenIdle();
  }

  #listen(): void {
    const { inventory, approvals } = this.#options;
    const { scheduling } = this;
    approvals.onWithdrawn((placement) => scheduling.request('decisions', placement));
    for (const { store } of [inventory.clusters, inventory.clusterSets, inventory.bindings, inventory.scores])
      store.onChange(() => scheduling.request('inputs'));
    inventory.placements.store.onChange((change) => {
      const { key, before, after } = change;
      if (after === undefined) this.#foreignWrites.delete(key);
      if (this.#placements.isOwn(key, after)) return;
      if (isInputChange(change)) return scheduling.request('inputs', key);
      const outcome = outcomeOf(before, after);
      this.#early.take(key, {
        isOurs: () => this.#placements.made(key, outcome),
        tell: () => scheduling.request('decisions', key),
      });
    });
    inventory.decisions.store.onChange((change) => {
      const { key, before, after } = change;
      if (!this.#leadership.isHeld) this.#beforeRestore.saw(change);
      // Our own decisions are inputs for the next pass, but no reason to look at their placement again.
      scheduling.request('decisions');
      if (this.#view.isOwn(key, after)) return;
      const outcome = outcomeOf(before, after);
      for (const placement of placementsOf(change)) {
        this.#early.take(placement, {
          isOurs: () => this.#view.made(key, outcome),
          tell: () => {
            if (before !== undefined) this.#noteForeign(placement);
            scheduling.request('decisions', placement);
          },
        });
      }
    });
    inventory.works.store.onChange(({ before, after }) => {
      const moving = (after ?? before)?.metadata.namespace;
      if (moving !== undefined && statusText(before) !== statusText(after)) this.#wakeMoves();
    });
  }

  #startOf(result: ScheduleResult): World | undefined {
    const world = this.#options.recorder.worldOf(result);
    return world === undefined ? undefined : (this.#starts.get(world) ?? world);
  }

  #noteForeign(placement: string): void {
    const { clock, inventory } = this.#options;
    // It is the one that leads.
    if (!this.#leadership.isHeld) return;
    const times = [...(this.#foreignWrites.get(placement) ?? []), clock.now()].slice(-RIVAL_WRITES);
    // The pages of one that is gone go after it.
    if (inventory.placements.store.get(placement) !== undefined) this.#foreignWrites.set(placement, times);
  }

  /** A make-before-break move waits for works: look at the placements that are in one. */
  #wakeMoves(): void {
    for (const key of this.scheduling.results().keys())
      if (this.#options.memory.get(key)?.move !== undefined) this.queue.add(key);
  }

  #decided({ key, result, before, world }: FreshDecision): FleetHappening {
    const pages = this.#view.pagesOf(key).map((page) => decisionPageOf(page, undefined));
    const change = clusterChange(before?.selected ?? publishedClusters(pages), result.selected);
    return { kind: 'decided', placement: key, result, world, ...change };
  }
}

/** Did anything change that a decision may depend on? Status does not count. */
function isInputChange({ before, after }: ObjectChange): boolean {
  if (before === undefined || after === undefined) return true;
  const inputs = ({ metadata }: KubeObject): string =>
    canonicalJson([
      metadata.uid,
      metadata.generation,
      metadata.labels,
      metadata.annotations,
      metadata.deletionTimestamp,
    ]);
  return inputs(before) !== inputs(after);
}

function statusText(object: KubeObject | undefined): string {
  return canonicalJson(object?.['status'] ?? null);
}
