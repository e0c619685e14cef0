import { type Leadership, SOLE_LEADER } from '@berth/kube/leader-election/leadership';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { namespacedName } from '@berth/kube/model/object-ref';
import { mayBeAllowedLater } from '@berth/kube/transport/kube-errors';
import { DEFAULT_MAX_REQUESTS } from '@berth/kube/transport/request-slots';
import type { Placement } from '@berth/ocm/kind/placement';
import type { ResultGenerator } from '@berth/placement/engine';
import { SCHEDULER_ANNOTATION } from '@berth/placement/explain/verdict/names-on-placements';
import { clusterChange } from '@berth/placement/result/cluster-change';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { Clock } from '@berth/runtime/clock/clock';
import { ConflictError, errorText } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import { runReconciler } from '@berth/runtime/loop/reconciler';
import type { Supervisor } from '@berth/runtime/loop/supervisor';
import { WorkQueue } from '@berth/runtime/loop/work-queue';
import { compareText } from '@berth/runtime/text/compare-text';
import { formatNameList } from '@berth/runtime/text/name-list';
import type { RemovalBudget } from '../../core/publish/judge/removal-budget.ts';
import { PlacementStates } from '../../core/publish/machine/placement-states.ts';
import { rivalPlacements } from '../../core/publish/machine/second-writer.ts';
import { currentPages } from '../../core/publish/machine/state/own-writes.ts';
import {
  decisionPageOf,
  placementOfPage,
  publishedClusters,
} from '../../core/publish/pages/decision-page.ts';
import type {
  PublishedDecision,
  PublishedPlacements,
} from '../../core/publish/pages/published-placements.ts';
import type { HubBreak, HubPosition } from '../../core/sync/hub-position.ts';
import { Transitions } from '../../core/transition/transition.ts';
import { movesUnderWay } from '../../core/transition/unfinished-transition.ts';
import type { ControllerEventBody } from '../events/controller-events.ts';
import { activeHold } from '../../core/publish/approval/approval-code.ts';
import type { PlacementEvents } from '../events/placement-events.ts';
import type { HubInventory } from '../inventory/hub-inventory.ts';
import { type ChangedDecision, SchedulingLoop } from '../scheduling/scheduling-loop.ts';
import type { CommitBarrier } from '../sources/progress/commit-barrier.ts';
import type { DeclaredPlacements } from '../sources/progress/source-declarations.ts';
import type { DecisionRecorder } from './decision-recorder.ts';
import { DecisionReasons } from './decision-reasons.ts';
import { DecisionSnapshots } from './decision-snapshots.ts';
import { DecisionView } from './decision-view.ts';
import { listenToInventory } from './inventory-events.ts';
import { PageOwners } from './page-owners.ts';
import { PageRequests } from './page-requests.ts';
import { PassFactsReader } from './pass-facts-reader.ts';
import { PlacementPublisher } from './placement-publisher.ts';
import type { PlanApprovals } from './plan-approvals.ts';
import type { PublishStateStore } from './publish-state-store.ts';
import type { PreviousRecords } from './recorded-publications.ts';
import { type LastTransition, UnpublishedMoves } from './last-transition.ts';

export interface PipelineOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly inventory: HubInventory;
  readonly publishStates: PublishStateStore;
  readonly recall?: ((placement: Placement) => Promise<void>) | undefined;
  readonly recorder: DecisionRecorder;
  readonly lastTransition: LastTransition;
  /** The records of a process that was killed. */
  readonly previousRecords: PreviousRecords;
  /** The newest resource version of each backup from which the hub was restored, oldest first. */
  readonly restoredTo: () => readonly string[];
  readonly publishedPlacements: PublishedPlacements;
  readonly budgetOf: (placement: Placement) => RemovalBudget;
  readonly approvals: PlanApprovals;
  readonly barrier: CommitBarrier;
  /** Placements of sources that another tool applies. Default: none. */
  readonly observed?: DeclaredPlacements | undefined;
  /** Placements of all sources. One that is missing on the hub is applied again. */
  readonly declared: DeclaredPlacements;
  /** Whether this process may set the namespace as an owner of pages, which keeps them when their placement is deleted. */
  readonly mayListNamespaces: boolean;
  /** Decides placements. Each result is computed when it is requested. */
  readonly decide: (snapshot: Snapshot) => ResultGenerator;
  /** Whether a commit is being applied to the hub. Default: never. */
  readonly isFollowing?: () => boolean;
  /** Whether this process publishes. If not, it only decides. Default: always. */
  readonly leadership?: Leadership | undefined;
  readonly emit: (event: ControllerEventBody) => void;
  readonly events?: PlacementEvents | undefined;
  /** Whether pages say why each cluster is selected. Default: no. */
  readonly hasReasons?: boolean | undefined;
  readonly onCycle: (tookMs: number) => void;
  /** Called when the newest result of a placement (`namespace/name`) is published, held, or cannot be published for now. */
  readonly onSettled?: ((placement: string) => void) | undefined;
}

/** Twice the number of parallel requests, so that placements are prepared while the hub works. */
const CONCURRENCY = 2 * DEFAULT_MAX_REQUESTS;

/** Scheduling and publishing with `schedule: berth`: inventory changes in, decisions on the hub out. */
export class PublishPipeline {
  readonly scheduling: SchedulingLoop;
  readonly queue: WorkQueue;
  readonly #options: PipelineOptions;
  readonly #view: DecisionView;
  readonly #states = new PlacementStates();
  readonly #facts: PassFactsReader;
  readonly #publisher: PlacementPublisher;
  readonly #problems = new PublishProblems();
  readonly #leadership: Leadership;
  readonly #underWay = new UnpublishedMoves();
  #isRecalled = false;
  #hasLed = false;

  constructor(options: PipelineOptions) {
    const { clock, inventory, recorder, barrier, declared } = options;
    this.#options = options;
    this.#leadership = options.leadership ?? SOLE_LEADER;
    this.queue = new WorkQueue(clock);
    const snapshots = new DecisionSnapshots({
      barrier,
      revision: () =>
        inventory.inputs.reduce((sum, { store }) => sum + store.revision, options.approvals.revision),
      onConsistent: (snapshot) => {
        const moves = this.#underWay.beginWaiting(snapshot);
        if (moves !== undefined) void options.lastTransition.begin(moves, snapshot);
      },
      snapshotOf: (result) => recorder.snapshotOf(result),
    });
    this.#view = new DecisionView(inventory.decisions.store);
    const reasons = options.hasReasons === true ? new DecisionReasons(inventory) : undefined;
    reasons?.onChange((key) => this.queue.add(key));
    this.#facts = new PassFactsReader({
      ...options,
      reasons,
      view: this.#view,
      snapshots,
      isOfSource: (key) => options.observed?.has(key) ?? false,
    });
    this.#publisher = this.#publisherOf(options);
    this.scheduling = this.#schedulingOf(options, snapshots);
    barrier.onCommitsComplete(() => {
      for (const key of this.#states.waitingForCommit)
        this.#publisher.handle(key, { kind: 'commit-complete' });
    });
    // Git decides about a deleted placement; an existing one waits for the complete commit.
    declared.onChange((key) => {
      if (inventory.placements.store.get(key) === undefined) this.queue.add(key);
    });
    options.observed?.onChange((key) => this.queue.add(key));
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
    const { inventory, previousRecords, clock, random, log, emit } = this.#options;
    supervisor.start('scheduling', async (signal) => {
      // An incomplete inventory would look as if clusters had been removed.
      await Promise.all([inventory.whenSynced(signal), previousRecords.whenLoaded()]);
      this.#enqueueOrphans();
      await this.scheduling.run(signal);
    });
    const { events } = this.#options;
    if (events !== undefined) {
      supervisor.start('events', (signal) => events.run(signal));
      supervisor.start('events of holds', (signal) => events.renew(() => this.#heldPlacements(), signal));
    }
    supervisor.start('publishing', (signal) =>
      runReconciler(
        {
          name: 'publish',
          queue: this.queue,
          reconcile: async (key) => {
            const result = await this.#publisher.reconcile(key);
            this.#problems.succeeded(key);
            this.#options.events?.succeeded(key, this.#facts.placement(key));
            return result;
          },
          concurrency: CONCURRENCY,
          clock,
          random,
          log,
          mayBegin: (stop) => this.#leadership.whenHeld(stop),
          isRetryable: mayBeAllowedLater,
          onError: (key, error) => {
            this.#problems.failed(key, error);
            // A lost race is not reported.
            if (error instanceof ConflictError) return;
            emit({ kind: 'error', where: `placement ${key}`, error });
            const placement = this.#facts.placement(key);
            if (placement !== undefined) this.#options.events?.failed(placement, error);
          },
        },
        signal,
      ),
    );
  }

  #heldPlacements(): readonly Placement[] {
    if (!this.#leadership.isHeld) return [];
    const placements =
      this.#options.inventory.placements.store.list() as readonly unknown[] as readonly Placement[];
    return placements.filter((placement) => activeHold(placement) !== undefined);
  }

  /** The hub was restored or replaced, and the watches do not show this yet. */
  hubChanged(how: HubBreak, { resourceVersion: hubVersion }: HubPosition): void {
    this.#options.lastTransition.forget();
    this.#underWay.clear();
    const placements = this.#options.inventory.placements.store.list();
    const keys = new Set([
      ...placements.map(({ metadata }) => namespacedName(metadata)),
      ...this.#states.keys(),
    ]);
    for (const key of keys) {
      const atRestore = how === 'restored' ? { hubVersion, seen: this.#facts.atRestore(key) } : undefined;
      this.#publisher.handle(key, { kind: 'hub-changed', atRestore });
    }
  }

  /** Whether decisions are being made or written. */
  get isBusy(): boolean {
    return this.queue.depth > 0 || this.scheduling.isDeciding;
  }

  /** Resolves when the watch has shown all pages that were written. */
  whenShown(): Promise<void> {
    return this.#states.whenShown();
  }

  /** Decisions that cannot be written, in words. */
  unpublished(): readonly string[] {
    return this.#problems.warnings();
  }

  /** Reports decisions that cannot be written, and pages that another program writes as well. */
  warnings(): readonly string[] {
    const rivals = rivalPlacements(this.#states.entries(), this.#options.clock.now());
    if (rivals.length === 0) return this.#problems.warnings();
    return [
      ...this.#problems.warnings(),
      `another controller keeps writing the PlacementDecisions of ${formatNameList(rivals)}: two schedulers run, so Berth stops correcting these pages; stop the ` +
        `other controller, or leave the placements to it: remove ${SCHEDULER_ANNOTATION}, or run Berth with --schedule upstream`,
    ];
  }

  /** Resolves after the first cycle over all placements. If another process leads, it resolves as soon as that is known. */
  async whenPublished(signal: AbortSignal): Promise<void> {
    const { inventory, clock } = this.#options;
    await inventory.whenSynced(signal);
    while (this.scheduling.cycles === 0 && !signal.aborted)
      await new Promise<void>((resolve) => clock.schedule(10, resolve));
    await this.#leadership.whenDecided(signal);
    if (!signal.aborted && this.#leadership.isHeld) await this.queue.whenIdle();
  }

  /** Enqueues pages whose placement was deleted while no Berth process ran. */
  #enqueueOrphans(): void {
    const { decisions, placements } = this.#options.inventory;
    for (const page of decisions.store.list()) {
      const key = placementOfPage(page);
      if (key !== undefined && placements.store.get(key) === undefined) this.queue.add(key);
    }
  }

  #publisherOf(options: PipelineOptions): PlacementPublisher {
    const { api, publishedPlacements, recorder, declared, barrier, events } = options;
    return new PlacementPublisher({
      ...options,
      whenStored: () => options.lastTransition.whenStored(),
      states: this.#states,
      facts: this.#facts,
      requests: new PageRequests(api, new PageOwners(options)),
      mayBeReapplied: (key) => !(declared.isMissing(key) && barrier.isHubCompared),
      isServed: (key) => publishedPlacements.get(key) !== undefined,
      resultOf: (key) => this.scheduling.resultOf(key),
      onResultHandled: (key) => {
        this.#underWay.end(key);
        options.onSettled?.(key);
      },
      record: (entry) => {
        this.#noteRelease(entry);
        return recorder.record(entry);
      },
      onFinalPages: (placement, pages) => publishedPlacements.set(placement, pages),
      decideAgain: (cause, key) => this.scheduling.request(cause, key),
      enqueue: (key) => this.queue.add(key),
      onPageWritten: (written) => events?.pageWritten(written),
      emit: (event) => {
        options.emit(event);
        if (event.kind === 'published' && event.writes > 0) this.#writeScoreEvents(event.placement);
        if (event.kind !== 'held' || event.isKnown) return;
        const held = this.#facts.placement(event.placement);
        if (held !== undefined) events?.held(held, event);
      },
    });
  }

  /** A publication that is found later was announced when it was made. */
  #noteRelease({ placement: key, released, found }: PublishedDecision): void {
    const placement = this.#facts.placement(key);
    if (released === undefined || found !== undefined || placement === undefined) return;
    const { token, by = 'a commit' } = released;
    this.#options.events?.released(placement, { token, by });
  }

  #writeScoreEvents(key: string): void {
    const { events, recorder } = this.#options;
    const result = this.scheduling.resultOf(key);
    if (result !== undefined) events?.published(result, recorder.snapshotOf(result));
  }

  #schedulingOf(options: PipelineOptions, snapshots: DecisionSnapshots): SchedulingLoop {
    const { clock, recorder, emit, decide, isFollowing, log, lastTransition } = options;
    const transitions = new Transitions({
      decide,
      outcomeOf: (key, result) => this.#publisher.outcomeOf(key, result),
    });
    return new SchedulingLoop({
      clock,
      snapshot: () => this.#snapshotToStart(snapshots),
      transition: (snapshot) => transitions.run(snapshot),
      onEach: ({ snapshot, result, start }) => {
        recorder.noteInputs(snapshot, result);
        snapshots.decided(snapshot, start);
      },
      beforePublishing: async (transition, start) => {
        if (!this.#hasLed) return;
        if (snapshots.isConsistent(start))
          return lastTransition.begin(this.#underWay.begin(transition), start);
        this.#underWay.wait(transition, start);
      },
      // In a standby nothing is published: its watch shows what the leader publishes.
      whenPublished: async () => {
        if (!this.#leadership.isHeld) return;
        await this.queue.whenIdle();
        await this.#states.whenShown();
      },
      onUnstable: (keys) =>
        log.warn('decisions keep changing each other, so Berth keeps the last ones', {
          placements: formatNameList(keys),
        }),
      ...(isFollowing && { isFollowing }),
      onResult: (decision) => emit(this.#decided(decision)),
      enqueue: (key) => this.queue.add(key),
      onCycle: options.onCycle,
    });
  }

  /**
   * A standby starts from the hub as it is, because the leader may still be publishing. A leader whose Lease has lapsed goes
   * on with what it decided.
   */
  async #snapshotToStart(snapshots: DecisionSnapshots): Promise<Snapshot> {
    const { inventory, lastTransition } = this.#options;
    if (this.#leadership.isHeld) await this.#recallPublished();
    const snapshot = inventory.snapshot();
    if (this.#leadership.isHeld) {
      this.#hasLed = true;
      this.#underWay.resume(movesUnderWay(snapshot, lastTransition.takeUnfinished()));
    }
    if (!this.#hasLed && lastTransition.isUnfinished) return snapshots.noteOutdated(snapshot);
    return snapshots.noteCurrent(this.#underWay.snapshotAfter(snapshot));
  }

  /**
   * What other processes removed and were allowed decides what is held, and what is held decides where other placements go.
   * Placements that they never published have nothing to recall.
   */
  async #recallPublished(): Promise<void> {
    const { inventory, recall } = this.#options;
    if (this.#isRecalled || recall === undefined) return;
    const placements = inventory.placements.store.list() as readonly unknown[] as readonly Placement[];
    const published = placements.filter(({ status }) => (status?.numberOfSelectedClusters ?? 0) > 0);
    await Promise.all(published.map(recall));
    this.#isRecalled = true;
  }

  #decided({ key, result, before, snapshot }: ChangedDecision): ControllerEventBody {
    const change = clusterChange(before?.selected ?? this.#listed(key), result.selected);
    return { kind: 'decided', placement: key, result, snapshot, ...change };
  }

  #listed(key: string): readonly string[] {
    const pages = currentPages(this.#states.of(key), this.#facts.pagesSeen(key));
    return publishedClusters(pages.map((page) => decisionPageOf(page, undefined)));
  }
}

/** Further placements are only counted. */
const MAX_NAMED = 10;

/** Placements whose decision could not be written, until it is written. */
class PublishProblems {
  readonly #failed = new Map<string, string>();

  /** A conflict is not a problem: the placement is read and written again immediately. */
  failed(placement: string, error: unknown): void {
    if (!(error instanceof ConflictError)) this.#failed.set(placement, errorText(error));
  }

  succeeded(placement: string): void {
    this.#failed.delete(placement);
  }

  warnings(): readonly string[] {
    const named = [...this.#failed].sort(([a], [b]) => compareText(a, b)).slice(0, MAX_NAMED);
    const more = this.#failed.size - named.length;
    return [
      ...named.map(([placement, text]) => `the decision of placement ${placement} is not published: ${text}`),
      ...(more > 0 ? [`the decisions of ${more} more placements are not published`] : []),
    ];
  }
}
