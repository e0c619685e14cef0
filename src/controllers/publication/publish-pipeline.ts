import { mayBeAllowedLater } from '../../adapters/kube/transport/kube-errors.ts';
import { DEFAULT_MAX_REQUESTS } from '../../adapters/kube/transport/request-slots.ts';
import { ConflictError } from '../../core/errors.ts';
import { namespacedName } from '../../core/model/object-ref.ts';
import { type Placement, SCHEDULING_DISABLE_ANNOTATION } from '../../core/model/kind/placement.ts';
import type { EachResult } from '../../core/placement/engine.ts';
import type { Clock, KubeApi, Logger } from '../../core/ports.ts';
import { clusterChange } from '../../core/publish/judge/cluster-change.ts';
import { decisionPageOf, publishedClusters } from '../../core/publish/pages/decision-page.ts';
import { listNames } from '../../core/publish/judge/judge-result.ts';
import { rivalPlacements } from '../../core/publish/machine/rival-placements.ts';
import { standingPages } from '../../core/publish/machine/state/standing-pages.ts';
import { SCHEDULER_ANNOTATION } from '../../core/publish/approval/publish-annotations.ts';
import type { RemovalBudget } from '../../core/publish/judge/removal-budget.ts';
import type { World } from '../../core/snapshot/world.ts';
import type { HubBreak, HubPosition } from '../../core/sync/hub-position.ts';
import { Transitions } from '../../core/transition/transition.ts';
import { type Leadership, SOLE_LEADER } from '../../runtime/leader-election/leadership.ts';
import { runReconciler } from '../../runtime/reconciler.ts';
import type { Supervisor } from '../../runtime/supervisor.ts';
import { WorkQueue } from '../../runtime/work-queue.ts';
import type { FleetHappening } from '../events/fleet-events.ts';
import type { HubInventory } from '../inventory/hub-inventory.ts';
import { type FreshDecision, SchedulingLoop } from '../scheduling/scheduling-loop.ts';
import type { CommitBarrier } from '../sources/progress/commit-barrier.ts';
import { DecidedWorlds } from './decided-worlds.ts';
import type { DecisionRecorder } from './decision-recorder.ts';
import { DecisionView } from './decision-view.ts';
import { listenToInventory } from './inventory-events.ts';
import { LookFacts } from './look-facts.ts';
import { MovesUnderWay } from './moves-under-way.ts';
import { PageRequests } from './page-requests.ts';
import type { PastPublications } from './past-publications.ts';
import { PlacementPublisher } from './placement-publisher.ts';
import { PlacementStates } from '../../core/publish/machine/placement-states.ts';
import type { PlanApprovals } from './plan-approvals.ts';
import type { PublishMemory } from './publish-memory.ts';
import type { TransitionJournal } from './transition-journal.ts';
import type { PublishedBook } from '../../core/publish/pages/published-book.ts';

export interface PipelineOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly inventory: HubInventory;
  readonly memory: PublishMemory;
  readonly recall?: ((placement: Placement) => Promise<void>) | undefined;
  readonly recorder: DecisionRecorder;
  readonly journal: TransitionJournal;
  /** The records of a process that was killed. */
  readonly past: PastPublications;
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
  /** Whether this process publishes; otherwise it only decides. Default: always. */
  readonly leadership?: Leadership | undefined;
  readonly emit: (happening: FleetHappening) => void;
  readonly onPass: (tookMs: number) => void;
}

/**
 * Placements published at the same time: twice the number of parallel requests, so that the next ones are prepared
 * while the hub works.
 */
const CONCURRENCY = 2 * DEFAULT_MAX_REQUESTS;
/** Scheduling and publishing with `schedule: berth`: inventory changes in, decisions on the hub out. */
export class PublishPipeline {
  readonly scheduling: SchedulingLoop;
  readonly queue: WorkQueue;
  readonly #options: PipelineOptions;
  readonly #view: DecisionView;
  readonly #states = new PlacementStates();
  readonly #facts: LookFacts;
  readonly #publisher: PlacementPublisher;
  readonly #leadership: Leadership;
  readonly #underWay = new MovesUnderWay();

  constructor(options: PipelineOptions) {
    const { clock, inventory, recorder, barrier } = options;
    this.#options = options;
    this.#leadership = options.leadership ?? SOLE_LEADER;
    this.queue = new WorkQueue(clock);
    const worlds = new DecidedWorlds({
      barrier,
      revision: () => inventory.inputs.reduce((sum, { store }) => sum + store.revision, 0),
      onWhole: (world) => this.#underWay.whole(world),
      worldOf: (result) => recorder.worldOf(result),
    });
    this.#view = new DecisionView(inventory.decisions.store);
    this.#facts = new LookFacts({ ...options, view: this.#view, worlds });
    this.#publisher = this.#publisherOf(options);
    this.scheduling = this.#schedulingOf(options, worlds);
    barrier.onWhole(() => {
      for (const key of this.#states.waitingForCommit) this.#publisher.handle(key, { kind: 'commit-whole' });
    });
    options.approvals.onWithdrawn((placement) => this.scheduling.request('decisions', placement));
    const [publisher, states] = [this.#publisher, this.#states];
    listenToInventory(inventory, {
      scheduling: this.scheduling,
      publisher,
      states,
      leadership: this.#leadership,
    });
  }

  start(supervisor: Supervisor): void {
    const { inventory, past, clock, random, log, emit } = this.#options;
    supervisor.start('scheduling', async (signal) => {
      // An incomplete inventory would look like removed clusters.
      await Promise.all([inventory.whenSynced(signal), past.whenLoaded()]);
      await this.scheduling.run(signal);
    });
    supervisor.start('publishing', (signal) =>
      runReconciler(
        {
          name: 'publish',
          queue: this.queue,
          reconcile: (key) => this.#publisher.reconcile(key),
          concurrency: CONCURRENCY,
          clock,
          random,
          log,
          mayBegin: (stop) => this.#leadership.whenHeld(stop),
          mayPass: mayBeAllowedLater,
          onError: (key, error) => {
            // A lost race needs no report.
            if (!(error instanceof ConflictError)) emit({ kind: 'error', where: `placement ${key}`, error });
          },
        },
        signal,
      ),
    );
  }

  /** The hub was restored or replaced; the watches do not show it yet. */
  hubChanged(how: HubBreak, { resourceVersion: hubVersion }: HubPosition): void {
    this.#options.journal.forget();
    this.#underWay.clear();
    const isStandby = how === 'restored' && !this.#leadership.isHeld;
    const placements = this.#options.inventory.placements.store.list();
    const keys = new Set([
      ...placements.map(({ metadata }) => namespacedName(metadata)),
      ...this.#states.keys(),
    ]);
    for (const key of keys) {
      const standby = isStandby ? { hubVersion, seen: this.#facts.atRestore(key) } : undefined;
      this.#publisher.handle(key, { kind: 'hub-changed', standby });
    }
  }

  /** Reports that another program writes the pages that Berth writes. */
  warnings(): readonly string[] {
    const rivals = rivalPlacements(this.#states.entries(), this.#options.clock.now());
    if (rivals.length === 0) return [];
    return [
      `another controller keeps writing the PlacementDecisions of ${listNames(rivals)}: two schedulers run; set the annotation ` +
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

  #publisherOf(options: PipelineOptions): PlacementPublisher {
    const { api, book, recorder } = options;
    return new PlacementPublisher({
      ...options,
      states: this.#states,
      facts: this.#facts,
      requests: new PageRequests(api),
      resultOf: (key) => this.scheduling.resultOf(key),
      onRest: (key) => this.#underWay.end(key),
      record: (entry) => recorder.record(entry),
      onSettled: (placement, pages) => book.set(placement, pages),
      decideAgain: (cause, key) => this.scheduling.request(cause, key),
      lookAgain: (key) => this.queue.add(key),
    });
  }

  #schedulingOf(options: PipelineOptions, worlds: DecidedWorlds): SchedulingLoop {
    const { clock, recorder, emit, decide, isFollowing, log, journal } = options;
    const transitions = new Transitions({
      decide,
      outcomeOf: (key, result) => this.#publisher.outcomeOf(key, result),
    });
    return new SchedulingLoop({
      clock,
      world: () => this.#worldToStart(worlds),
      transition: (world) => transitions.run(world),
      onEach: ({ world, result, start }) => {
        recorder.saw(world, result);
        worlds.decided(world, start);
      },
      beforePublishing: async (transition, start) => {
        if (!this.#leadership.isHeld) return;
        if (worlds.isWhole(start)) return journal.begin(this.#underWay.begin(transition), true);
        this.#underWay.wait(transition, start);
        await journal.begin(transition.moved, false);
      },
      // The watch shows what another process publishes.
      whenPublished: async () => {
        if (!this.#leadership.isHeld) return;
        await this.queue.whenIdle();
        await this.#states.whenShown();
      },
      onRestless: (keys) =>
        log.warn('decisions keep changing each other, so the last ones stay', {
          placements: listNames(keys),
        }),
      ...(isFollowing && { isFollowing }),
      onResult: (decision) => emit(this.#decided(decision)),
      enqueue: (key) => this.queue.add(key),
      onPass: options.onPass,
    });
  }

  /** What another process is publishing is not undone. */
  #worldToStart(worlds: DecidedWorlds): World {
    const { inventory, journal } = this.#options;
    const world = inventory.world();
    if (this.#leadership.isHeld) return worlds.made(this.#underWay.worldAfter(journal.worldToStart(world)));
    return journal.isUnfinished ? worlds.overtaken(world) : worlds.made(world);
  }

  #decided({ key, result, before, world }: FreshDecision): FleetHappening {
    const change = clusterChange(before?.selected ?? this.#listed(key), result.selected);
    return { kind: 'decided', placement: key, result, world, ...change };
  }

  #listed(key: string): readonly string[] {
    const pages = standingPages(this.#states.of(key), this.#facts.pagesSeen(key));
    return publishedClusters(pages.map((page) => decisionPageOf(page, undefined)));
  }
}
