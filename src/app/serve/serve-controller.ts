import type { ObjectCache } from '@berth/kube/cache/object-cache';
import { SOLE_LEADER } from '@berth/kube/leader-election/leadership';
import type { Clock } from '@berth/runtime/clock/clock';
import { tightenDirectory } from '@berth/runtime/files/atomic-file';
import { sleep } from '@berth/runtime/loop/sleep';
import { Subscribers } from '@berth/runtime/loop/subscribers';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { sha256 } from '@berth/runtime/sha256';
import { warmSnapshotDigest } from '../../adapters/store/snapshot-digest.ts';
import type { ControllerEvent, ControllerEventBody } from '../../controllers/events/controller-events.ts';
import { PlacementEvents } from '../../controllers/events/placement-events.ts';
import { HubContinuity, type HubContinuityOptions } from '../../controllers/inventory/hub-continuity.ts';
import { HubInventory } from '../../controllers/inventory/hub-inventory.ts';
import { PreparedLeadership } from '../../controllers/leadership/prepared-leadership.ts';
import { DecisionRecorder } from '../../controllers/publication/decision-recorder.ts';
import type { PlanApprovals } from '../../controllers/publication/plan-approvals.ts';
import { PublishPipeline } from '../../controllers/publication/publish-pipeline.ts';
import { UpstreamDecisions } from '../../controllers/publication/upstream-decisions.ts';
import { warmEngine } from '../../controllers/scheduling/scheduling-loop.ts';
import { CommitBarrier, CommitsInProgress } from '../../controllers/sources/progress/commit-barrier.ts';
import { CommitStages } from '../../controllers/sources/progress/commit-stages.ts';
import { DeclaredPlacements } from '../../controllers/sources/progress/source-declarations.ts';
import { SourceLedger } from '../../controllers/sources/progress/source-ledger.ts';
import { type SourceEvent, sourceNameOf } from '../../controllers/sources/progress/source-options.ts';
import { PublishedPlacements } from '../../core/publish/pages/published-placements.ts';
import { ownPlacements, type ServeOptions } from '../settings/serve-options.ts';
import { becomeReady, Standby } from './become-ready.ts';
import { type ControllerState, isControllerData, openControllerState } from './controller-state.ts';
import type { ControllerHttpOptions } from './http/controller-http-options.ts';
import { serveHttp } from './http/controller-http.ts';
import { ControllerMetrics } from './http/controller-metrics.ts';
import { EventStream } from './http/event-stream.ts';
import { Readiness } from './http/readiness.ts';
import { openAnnouncement } from './open-announcement.ts';
import type { OpenTraces } from './open-traces.ts';
import type { OpenPreviews, PreviewDependencies } from './open-previews.ts';
import { openSources, restoreDeleted, type SourceDependencies } from './open-sources.ts';
import { openWorks, type RunningWorks } from './open-works.ts';
import { serveCache } from './serve-cache.ts';
import { startOptionalControllers } from './start-optional-controllers.ts';

/**
 * At a start, publication runs before the full comparison of sources: both need the CPU, and
 * readiness depends on publication. If the first publication is delayed, sources are compared after
 * this time anyway.
 */
const MAX_FIRST_PUBLICATION_MS = 10_000;

export interface RunningController {
  /** Events from now on. Each reader gets its own sequence. */
  readonly events: AsyncIterable<ControllerEvent>;
  /** The address of the HTTP server; undefined without one. */
  readonly url: string | undefined;
  /** Resolves when everything was read (or could not be read) and published once, or when closed. */
  whenReady(): Promise<void>;
  /** Fetches the sources now. */
  reconcile(): void;
  /** The process is not ready any more, and goes on until `close`. */
  announceEnd(): void;
  close(): Promise<void>;
  /** Ends threads and requests that `close` waits for. The caller closes its clients of the hub. */
  cutOff(): void;
}

/**
 * Runs the controller until `close`.
 * @throws InputError for options that cannot work. Later failures are events, and are retried
 */
export async function serveController(serveOptions: ServeOptions): Promise<RunningController> {
  const { clock, random, log } = serveOptions;
  const supervisor = new Supervisor({ clock, random, log });
  const { events, metrics, emit } = eventsOf(clock, (event) => stages.record(event));
  const [checkHub, overdue] = [() => continuity.check(), () => duties.overdue()];
  const prepared = prepareLeadership(serveOptions, () => ({ continuity, state, inventory }));
  const [options, leadership] = [{ ...serveOptions, leadership: prepared }, prepared ?? SOLE_LEADER];
  await tightenDirectory(options.dataDir, isControllerData, log);
  const state = openControllerState(options);
  const continuity = continuityOf(options, state, {
    positions: () => cache.reflectors.map(({ position }) => position),
    onAvailable: () => cache.hurry(),
    onBreak: (how, now) => {
      emit({ kind: 'hub-restored', how });
      // After a restore, the watches of a real hub continue and do not show it.
      cache.restart();
      barrier.hubChanged(inventory.listInputs(supervisor.signal));
      if (decider instanceof PublishPipeline) decider.hubChanged(how, now);
      sources.forEach((loop) => loop.hubChanged(how));
    },
  });
  const cache = serveCache(options, emit, continuity);
  const inventory = inventoryOf(options, cache);
  const ledger = new SourceLedger(sha256, state.commits, options);
  const [publishedPlacements, arriving] = [new PublishedPlacements(), new CommitsInProgress()];
  const [barrier, restoredTo] = [barrierOf(options, inventory), () => continuity.restoredTo];
  const [stages, traces] = await openStages(options, { barrier, metrics, supervisor, of: () => decider });
  const followed = followSources({ arriving, approvals: state.approvals, ledger, stages, traces, barrier });
  const parts = { options, barrier, cache, inventory, publishedPlacements, emit, metrics, stages, traces };
  const decider = await openDecider({ ...parts, state, ledger, arriving, followed, restoredTo });
  const readiness = new Readiness(inventory, publishedPlacements, ledger.firstReads, leadership);
  const whenFirstPublished = firstPublication(decider, clock);
  const kept = { ...parts, state, arriving, decider, ...recordDeletions(options, emit, state) };
  const loops = await openSources(options, { ...kept, events: followed, whenFirstPublished });
  restoreDeleted(inventory.inputs, barrier, loops);
  const previews = await loadPreviews({ ...kept, ledger, followed, whenFirstPublished, checkHub, overdue });
  if (previews !== undefined) state.approvals.findMergedPlansWith(previews.planOfTree);
  let works: RunningWorks | undefined;
  const [duties, announcement] = [startOptionalControllers(kept), openAnnouncement(options)];
  const sources = loops.map(({ loop }) => loop);
  const close = async (): Promise<void> => {
    await Promise.all([works?.close(), duties.close(), supervisor.close()]);
    continuity.storePosition();
    await Promise.all([...loops.map((loop) => loop.close()), previews?.close(), state.close()]);
    events.close();
  };
  const http = await serveHttp({
    ...{ options, inventory, publishedPlacements, metrics, decider, readiness, leadership },
    ...{ ...duties, previews, loops: sources, shares: () => works?.shares() },
    hubProblem: hubProblemOf(options, inventory),
    ...{ ...knownOf(ledger), timeline: state.timeline, loadDashboard },
    warnings: () => [inventory, decider, works, duties, announcement].flatMap((one) => one?.warnings() ?? []),
  }).catch(closesAtFailure(close));
  supervisor.start('data directory', (signal) => state.keep(signal));
  supervisor.start('history of the hub', (signal) => continuity.run(signal));
  const standby = prepared && new Standby({ ...parts, leadership, clock, state, restoredTo });
  for (const part of [standby, prepared, cache, decider, announcement, ...loops]) part?.start(supervisor);
  if (options.works !== false) works = openWorks({ ...parts, decider, continuity });
  const ready = becomeReady({ ...parts, decider, standby, readiness, leadership, http, sources, supervisor });
  previews?.start(supervisor, ready);
  if (decider instanceof PublishPipeline) supervisor.start('warm-up', warmUpOf(inventory, clock, ready));
  return {
    events,
    url: http?.url,
    ...{ whenReady: () => ready, announceEnd: () => readiness.announceEnd() },
    reconcile: () => sources.forEach((loop) => loop.reconcile()),
    close: () => (http?.close() ?? Promise.resolve()).then(close),
    cutOff: () => [works, ...loops].forEach((part) => part?.cutOff()),
  };
}

/** What was opened must not keep a process alive that cannot serve. */
export function closesAtFailure(close: () => Promise<void> | void): (error: unknown) => Promise<never> {
  return async (error) => {
    await close();
    throw error;
  };
}

const loadDashboard: ControllerHttpOptions['loadDashboard'] = async (...parts) =>
  (await import('./dashboard/dashboard-routes.ts')).dashboardRoutes(...parts);

/** What the HTTP server asks of the sources of objects. */
function knownOf(ledger: SourceLedger): Pick<ControllerHttpOptions, 'commitOf' | 'budgetOf'> {
  return {
    commitOf: (object) => ledger.sourceCommitOf(object),
    budgetOf: (placement) => ledger.budgetOf(placement),
  };
}

function inventoryOf(options: ServeOptions, cache: ObjectCache): HubInventory {
  const taintsClusters = options.registration?.duties.includes('taints');
  return new HubInventory({ ...options, cache, taintsClusters, decides: ownPlacements(options) });
}

function eventsOf(clock: Clock, record: (event: ControllerEventBody) => void) {
  const events = new EventStream(clock);
  const metrics = new ControllerMetrics();
  const emit = (event: ControllerEventBody): void => {
    events.emit(event);
    metrics.record({ atMs: clock.now(), ...event });
    record(event);
  };
  return { events, metrics, emit };
}

function hubProblemOf({ hubProblem }: ServeOptions, inventory: HubInventory): () => string | undefined {
  return hubProblem ?? (() => (inventory.problem() === undefined ? inventory.age() : undefined));
}

/** Whether `--print-rbac` includes this right. */
function mayListNamespaces({ sources }: Pick<ServeOptions, 'sources'>): boolean {
  return sources.some(({ sync }) => sync !== 'observe');
}

/** After the first publication, prepares work that the first change would otherwise wait for. */
function warmUpOf(inventory: HubInventory, clock: Clock, ready: Promise<void>) {
  return async (signal: AbortSignal): Promise<void> => {
    await ready;
    const snapshot = inventory.snapshot();
    await warmSnapshotDigest(snapshot, signal);
    await warmEngine(snapshot, clock, signal);
  };
}

function continuityOf(
  options: ServeOptions,
  { hubPositions: memory }: ControllerState,
  watches: Pick<HubContinuityOptions, 'positions' | 'onBreak' | 'onAvailable'>,
): HubContinuity {
  const { api, clock } = options;
  return new HubContinuity({ api, clock, mayListNamespaces: mayListNamespaces(options), memory, ...watches });
}

/** Measures how far commits have got, from what the parts of the process report anyway. Loads the code of traces if they are sent. */
async function openStages(
  options: ServeOptions,
  parts: {
    readonly barrier: CommitBarrier;
    readonly metrics: ControllerMetrics;
    readonly supervisor: Supervisor;
    /** Whose decisions are measured. */
    readonly of: () => PublishPipeline | UpstreamDecisions;
  },
): Promise<readonly [CommitStages, OpenTraces | undefined]> {
  const { clock, sources, leadership, otlp } = options;
  const { barrier, metrics, supervisor, of } = parts;
  const traces =
    otlp && (await import('./open-traces.ts')).openTraces({ ...options, otlp }, metrics, supervisor);
  const stages = new CommitStages({
    clock,
    sources: writingSources(sources),
    barrier,
    mayWrite: () => leadership?.isHeld !== false,
    isDeciding: () => {
      const one = of();
      return one instanceof PublishPipeline ? one.scheduling.isDeciding : undefined;
    },
    observers: [
      {
        reached: ({ isFirst, fetchBeganAtMs }, stage, atMs) => {
          if (!isFirst) metrics.commitReached(stage, atMs - fetchBeganAtMs);
        },
      },
      ...(traces === undefined ? [] : [traces.commits]),
    ],
  });
  return [stages, traces];
}

function writingSources(sources: ServeOptions['sources']): readonly string[] {
  return sources.filter(({ sync }) => sync !== 'observe').map(sourceNameOf);
}

function barrierOf({ clock, sources }: ServeOptions, { inputs }: HubInventory): CommitBarrier {
  return new CommitBarrier(
    clock,
    new Map(inputs.map(({ kind, store }) => [kind.kind, store])),
    writingSources(sources),
  );
}

function firstPublication(decider: PublishPipeline | UpstreamDecisions, clock: Clock) {
  return (signal: AbortSignal): Promise<void> =>
    Promise.race([decider.whenPublished(signal), sleep(clock, MAX_FIRST_PUBLICATION_MS, signal)]);
}

/** @param parts what a process reads before it writes, which is made later */
function prepareLeadership(
  { leadership: inner, clock, log }: ServeOptions,
  parts: () => {
    readonly continuity: HubContinuity;
    readonly state: ControllerState;
    readonly inventory: HubInventory;
  },
): PreparedLeadership | undefined {
  if (inner === undefined) return undefined;
  const lookFirst = async (): Promise<void> => {
    const { continuity, state } = parts();
    await continuity.check();
    await state.lastTransition.readLastLeader();
  };
  const readPublished = (signal: AbortSignal): Promise<void> => parts().inventory.readPublished(signal);
  return new PreparedLeadership({ inner, lookFirst, readPublished, clock, log });
}

/** Starts what decides: Berth's engine with the publisher, or a reader of the decisions of OCM's controller. */
async function openDecider(parts: {
  readonly options: ServeOptions;
  readonly barrier: CommitBarrier;
  readonly inventory: HubInventory;
  readonly publishedPlacements: PublishedPlacements;
  readonly emit: (event: ControllerEventBody) => void;
  readonly metrics: ControllerMetrics;
  readonly stages: CommitStages;
  readonly state: ControllerState;
  readonly ledger: SourceLedger;
  readonly arriving: CommitsInProgress;
  readonly followed: Subscribers<SourceEvent>;
  readonly restoredTo: () => readonly string[];
}): Promise<PublishPipeline | UpstreamDecisions> {
  const { options, barrier, inventory, publishedPlacements, emit, metrics, stages } = parts;
  const { state, ledger, arriving, followed, restoredTo } = parts;
  const { api, clock, random, log, engineVersion } = options;
  if (options.schedule === 'upstream')
    return new UpstreamDecisions({ inventory, publishedPlacements, clock });
  const recorder = new DecisionRecorder({
    clock,
    engineVersion,
    lastCommitOf: (placement) => ledger.lastCommitOf(placement),
    inventoryRevision: () =>
      inventory.reflectors.reduce((sum, reflector) => sum + reflector.store.revision, 0),
    append: (record, snapshot, text) => {
      state.history.append(record, snapshot, text);
      state.hubRecords?.append(record);
    },
  });
  return new PublishPipeline({
    api,
    clock,
    random,
    log,
    inventory,
    publishedPlacements,
    emit,
    events: new PlacementEvents({ api, clock, random, log }),
    publishStates: state.publishStates,
    lastTransition: state.lastTransition,
    recall: async (placement) => state.recordedPublications?.recall(placement),
    approvals: state.approvals,
    barrier,
    observed: declaredPlacements(
      options.sources.filter(({ sync }) => sync === 'observe'),
      followed,
    ),
    declared: declaredPlacements(options.sources, followed),
    mayListNamespaces: mayListNamespaces(options),
    recorder,
    previousRecords: state.previousRecords,
    restoredTo,
    budgetOf: (placement) => ledger.budgetOf(placement),
    decide: await engineOf(options),
    isFollowing: () => arriving.areAny,
    leadership: options.leadership,
    hasReasons: options.decisionReasons,
    onCycle: (tookMs) => {
      metrics.scheduled(tookMs);
      stages.roundEnded(tookMs);
    },
    onSettled: (placement) => stages.settled(placement),
  });
}

async function engineOf(options: ServeOptions): Promise<NonNullable<ServeOptions['decide']>> {
  if (options.decide !== undefined) return options.decide;
  const { startEngine } = await import('@berth/placement/incremental-scheduler');
  return startEngine();
}

/** Loads the code for planning only if pull requests are planned. */
async function loadPreviews(parts: PreviewDependencies): Promise<OpenPreviews | undefined> {
  if (parts.options.sources.every(({ preview }) => preview === undefined)) return undefined;
  return (await import('./open-previews.ts')).openPreviews(parts);
}

/** Subscribes the listeners of source events, in this order. No listener calls a source. */
export function followSources(followers: {
  readonly arriving: CommitsInProgress;
  readonly approvals: PlanApprovals;
  readonly ledger: SourceLedger;
  readonly stages: Pick<CommitStages, 'handle'>;
  readonly traces?: Pick<OpenTraces, 'commits'> | undefined;
  readonly barrier: CommitBarrier;
}): Subscribers<SourceEvent> {
  const { arriving, approvals, ledger, stages, traces, barrier } = followers;
  const events = new Subscribers<SourceEvent>();
  events.subscribe((event) => arriving.handle(event));
  events.subscribe((event) => {
    const { kind, source } = event;
    if (kind === 'read') return approvals.read(source, event.content.commit, event.content.objects);
    // Runs before the barrier opens, so that no decision for the complete commit uses approvals
    // that it withdraws.
    if (kind === 'complete' || kind === 'followed') approvals.followed(source);
    return undefined;
  });
  events.subscribe((event) => ledger.handle(event));
  events.subscribe((event) => traces?.commits.handle(event));
  events.subscribe((event) => stages.handle(event));
  events.subscribe((event) => barrier.handle(event));
  return events;
}

/** The placements that these sources declare. */
function declaredPlacements(
  sources: ServeOptions['sources'],
  events: Subscribers<SourceEvent>,
): DeclaredPlacements {
  const declared = new DeclaredPlacements(sources.map(sourceNameOf));
  events.subscribe((event) => declared.handle(event));
  return declared;
}

/**
 * Records deletions by sources, and deletions of their objects by others, for `berth history` and
 * for the restore of a hub from a backup.
 */
function recordDeletions(
  { log }: ServeOptions,
  emit: (event: ControllerEventBody) => void,
  { deletions }: ControllerState,
): Pick<SourceDependencies, 'onDeleted' | 'readDeleted'> {
  return {
    onDeleted: (record) => {
      emit({ kind: 'deleted', record });
      deletions.append(record);
    },
    readDeleted: async (source) => {
      try {
        const records = await deletions.read();
        return records.flatMap(({ source: by, uid, byOthers }) =>
          by === source && byOthers !== true && uid !== undefined ? [uid] : [],
        );
      } catch (error) {
        log.warn(
          'recorded deletions cannot be read, so deleting objects that a backup restored counts toward the budget',
          { error },
        );
        return [];
      }
    },
  };
}
