import { findCondition, setCondition } from '@berth/kube/model/condition-list';
import type { AppliedManifestWork } from '@berth/ocm/kind/applied-manifest-work';
import {
  type ManifestCondition,
  type ManifestWork,
  type ManifestWorkStatus,
  MANIFEST_WORK_FINALIZER,
} from '@berth/ocm/kind/manifest-work';
import { errorText } from '@berth/runtime/errors';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { RETRY, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import { desiredDigest } from '../apply/apply-cache.ts';
import { appliedCondition } from '../apply/apply-manifest.ts';
import {
  applyManifests,
  type ManifestResult,
  readManifests,
  missingNamespaces,
} from '../apply/apply-manifests.ts';
import type { ManifestTask } from '../cluster/manifest-task.ts';
import { observeWork, type WorkObservation } from './observe-work.ts';
import type { FeedbackByObject } from '../options/agent-options.ts';
import {
  appliedWorkName,
  dropIntents,
  ensureApplied,
  readApplied,
  allAppliedResources,
  hasOpenIntents,
  newIntents,
} from './applied-work.ts';
import { cleanUpApplied, type TrackedResources, trackResources } from './clean-up-resources.ts';
import { untrackedResources } from '../rules/applied/applied-resources.ts';
import { isAlreadyExists } from '../rules/applied/kube-failure.ts';
import { appliedWorkOwner } from '../rules/applied/ownership.ts';
import {
  wasApplied,
  aggregateApplied,
  findManifestCondition,
  mergeManifestStatus,
} from '../rules/feedback/observed-status.ts';
import {
  type AgentState,
  correctionAllowedAtMs,
  noteCorrection,
  type WorkMemory,
  writeFinalizers,
} from './agent-state.ts';

/**
 * One pass over a work: applies it to the cluster, and updates its status from the cluster. Every
 * step is idempotent.
 */
export async function syncWork(
  state: AgentState,
  found: ManifestWork,
  signal: AbortSignal,
): Promise<ReconcileOutcome> {
  const work = await withFinalizer(state, found);
  const { name } = work.metadata;
  let applied = state.appliedOf(name);
  // A user deleted the AppliedManifestWork: its objects are deleted with it, then all are created
  // again.
  if (applied?.metadata.deletionTimestamp !== undefined && !(await cleanUpApplied(state, applied)))
    return RETRY;
  applied = state.appliedOf(name);
  if (applied !== undefined) applied = await state.cancelEviction(applied);
  const memory = state.memory(name);
  const cause = applyCause(state, work, applied, memory);
  const pass =
    cause === undefined ? undefined : await applyPass(state, { work, applied, memory, cause, signal });
  if (signal.aborted) return RETRY;
  if (pass !== undefined && isFirstFailure(memory, work, pass)) {
    await recordApplied(state, pass);
    return RETRY;
  }
  const observation = await observeWork(state, work, pass?.status ?? work.status ?? {}, pass?.results);
  const { status } = observation;
  if (pass !== undefined) await recordApplied(state, pass);
  await state.writeWorkStatus(work, status);
  if (pass !== undefined && pass.retry !== 'soon') noteApplied(state, memory, work, pass.retry);
  reportPass(state, work, status, pass?.results);
  if (pass?.retry === 'soon')
    return missingNamespaces(pass.results).length === 0
      ? RETRY
      : { kind: 'retry', atMostMs: NAMESPACE_RETRY_MS };
  return nextPass(state, memory, observation);
}

async function withFinalizer(state: AgentState, work: ManifestWork): Promise<ManifestWork> {
  const finalizers = work.metadata.finalizers ?? [];
  if (finalizers.includes(MANIFEST_WORK_FINALIZER)) return work;
  return state.noteWork(
    await writeFinalizers(state.settings.hub, work, [...finalizers, MANIFEST_WORK_FINALIZER]),
  );
}

/**
 * Whether a manifest could not be applied in one pass only. It is tried again at once, and reported if it fails again: a
 * rollout takes the first report for the verdict on a version.
 */
function isFirstFailure(memory: WorkMemory, { metadata, status }: ManifestWork, pass: Pass): boolean {
  const hasFailed = pass.results.some(({ outcome }) => outcome.kind === 'failed' && outcome.retry === 'soon');
  const isFirst = hasFailed && !memory.failed;
  memory.failed = hasFailed;
  const reported = findCondition(status?.conditions, 'Applied');
  const isReported = reported?.status === 'False' && reported.observedGeneration === metadata.generation;
  return isFirst && !isReported;
}

/** `repeated`: an earlier pass for the same input was not finished, or could not be reported. */
type ApplyCause = 'changed' | 'repeated' | 'drift';

/** Why the work must be applied now; undefined if it need not be. */
function applyCause(
  state: AgentState,
  work: ManifestWork,
  applied: AppliedManifestWork | undefined,
  memory: WorkMemory,
): ApplyCause | undefined {
  // A completed work is not applied again: its objects may have been deleted on purpose.
  if (findCondition(work.status?.conditions, 'Complete')?.status === 'True') return undefined;
  const { clock, drift, resyncIntervalMs } = state.settings;
  // Otherwise, works that disagree about one object would correct each other without a pause.
  const allowed = clock.now() >= correctionAllowedAtMs(memory, resyncIntervalMs);
  const input = inputOf(work);
  if (memory.appliedInput !== input) {
    if (memory.begunInput !== input) return 'changed';
    return allowed ? 'repeated' : undefined;
  }
  if (clock.now() >= memory.resyncAtMs) return 'changed';
  if (drift === 'resync') return undefined;
  if (!memory.drifted && applied !== undefined) return undefined;
  return allowed ? 'drift' : undefined;
}

/** The rights of a denied executor are asked for again after this time. */
const DENIED_RETRY_MS = 60_000;

/**
 * Stored only after the pass was reported completely, because its results are stored nowhere else:
 * a pass whose status writes failed is repeated completely. Otherwise the next pass would have
 * nothing to do and report nothing until the resync. The next complete pass comes with the resync, or when the rights of a
 * denied executor are due to be asked for again.
 */
function noteApplied(
  { settings }: AgentState,
  memory: WorkMemory,
  work: ManifestWork,
  retry: 'minute' | 'never',
): void {
  const { clock, random, resyncIntervalMs } = settings;
  memory.appliedInput = inputOf(work);
  const resyncMs = resyncIntervalMs * (1 + 0.5 * random());
  memory.resyncAtMs = clock.now() + (retry === 'minute' ? Math.min(DENIED_RETRY_MS, resyncMs) : resyncMs);
}

/**
 * Digest of the inputs of an apply: the spec, and the labels (which users change to request another
 * try).
 */
function inputOf({ metadata }: ManifestWork): string {
  return desiredDigest(metadata.uid, metadata.generation, metadata.labels ?? {});
}

interface PassInput {
  readonly work: ManifestWork;
  readonly applied: AppliedManifestWork | undefined;
  readonly memory: WorkMemory;
  readonly cause: ApplyCause;
  readonly signal: AbortSignal;
}

interface Pass {
  readonly applied: AppliedManifestWork;
  readonly appliedStatus: NonNullable<AppliedManifestWork['status']>;
  readonly status: ManifestWorkStatus;
  readonly results: readonly ManifestResult[];
  readonly retry: 'soon' | 'minute' | 'never';
}

async function applyPass(state: AgentState, input: PassInput): Promise<Pass> {
  const { work, memory, cause, signal } = input;
  const { settings, live } = state;
  const { clock } = settings;
  memory.begunInput = inputOf(work);
  memory.appliedInput = undefined;
  memory.drifted = false;
  const tasks = await readManifests(work.spec ?? {}, settings.cluster);
  const applied = await currentApplied(state, work, input.applied, tasks);
  const owner = appliedWorkOwner(applied.metadata.name, applied.metadata.uid ?? '');
  const before = work.status?.resourceStatus?.manifests ?? [];
  const recorded = applied.status?.appliedResources ?? [];
  const results = await applyManifests({
    settings,
    live,
    memory: memory.applied,
    reviews: state.reviews,
    spec: work.spec ?? {},
    tasks,
    name: work.metadata.name,
    owner,
    drift: cause === 'drift',
    isComplete: ({ meta }) =>
      findCondition(findManifestCondition(before, meta)?.conditions, 'Complete')?.status === 'True',
    isRecorded: ({ meta }) => untrackedResources([meta], recorded).length === 0,
    wasApplied: ({ meta }) => {
      const last = findCondition(findManifestCondition(before, meta)?.conditions, 'Applied');
      return last?.status === 'True' && last.observedGeneration === work.metadata.generation;
    },
    signal,
  });
  if (signal.aborted)
    return {
      applied,
      appliedStatus: applied.status ?? {},
      status: work.status ?? {},
      results,
      retry: 'soon',
    };
  if (cause !== 'changed' && results.some(({ outcome }) => outcome.kind === 'applied' && outcome.wrote))
    noteCorrection(memory, clock.now());
  const status = statusOf(state, work, results, before);
  const tracked = await track(state, { applied, results, status });
  const retry = retryOf(results, tracked);
  const appliedStatus =
    tracked === undefined
      ? (applied.status ?? {})
      : { ...applied.status, appliedResources: tracked.resources };
  return { applied, appliedStatus, status, results, retry };
}

async function currentApplied(
  state: AgentState,
  work: ManifestWork,
  cached: AppliedManifestWork | undefined,
  tasks: readonly ManifestTask[],
): Promise<AppliedManifestWork> {
  const { settings } = state;
  const name = appliedWorkName(settings, work.metadata.name);
  let applied: AppliedManifestWork;
  try {
    applied = await ensureApplied(settings, work, cached, newIntents(cached, tasks));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    // The watch had not shown it yet.
    const present = await readApplied(settings.cluster, name);
    applied = await ensureApplied(settings, work, present, newIntents(present, tasks));
  }
  if (applied !== cached) state.noteAppliedWork(name, applied);
  return applied;
}

function statusOf(
  state: AgentState,
  work: ManifestWork,
  results: readonly ManifestResult[],
  before: readonly ManifestCondition[],
): ManifestWorkStatus {
  const generation = work.metadata.generation ?? 0;
  const now = state.now();
  const entries = results.map(({ task, outcome }) => ({
    resourceMeta: task.meta,
    conditions: [{ ...appliedCondition(outcome), observedGeneration: generation }],
  }));
  const manifests = mergeManifestStatus(entries, before, now);
  const overall = aggregateApplied(manifests, generation);
  const conditions = work.status?.conditions ?? [];
  return {
    ...work.status,
    conditions: overall === undefined ? conditions : setCondition(conditions, overall, now),
    resourceStatus: { manifests },
  };
}

async function recordApplied(state: AgentState, pass: Pass): Promise<void> {
  const applied = await state.writeAppliedStatus(pass.applied, pass.appliedStatus);
  // Intended objects that are not recorded now were cleaned up; if an apply failed, they may still be
  // created.
  if (pass.retry === 'soon' || !hasOpenIntents(applied)) return;
  state.noteAppliedWork(applied.metadata.name, await dropIntents(state.settings.cluster, applied));
}

interface TrackInput {
  readonly applied: AppliedManifestWork;
  readonly results: readonly ManifestResult[];
  readonly status: ManifestWorkStatus;
}

/** Undefined if a resource is unknown; then nothing was cleaned up. */
async function track(state: AgentState, input: TrackInput): Promise<TrackedResources | undefined> {
  const { applied, results, status } = input;
  const recorded = applied.status?.appliedResources ?? [];
  // The work has no status yet: an empty work must not delete objects that a lost status listed.
  if (!wasApplied(status)) return { resources: recorded, unfinished: false, problems: [] };
  const { log, cluster, clusterName } = state.settings;
  try {
    const owner = appliedWorkOwner(applied.metadata.name, applied.metadata.uid ?? '');
    const previous = allAppliedResources(applied);
    const tracked = await trackResources({ cluster, live: state.live, results, previous, owner });
    for (const problem of tracked.problems)
      log.warn('an outdated object cannot be removed yet', { cluster: clusterName, problem });
    return tracked;
  } catch (error) {
    log.info('the work is not fully known, so nothing is cleaned up', {
      cluster: clusterName,
      work: applied.spec.manifestWorkName,
      problem: errorText(error),
    });
    return undefined;
  }
}

function retryOf(results: readonly ManifestResult[], tracked: TrackedResources | undefined): Pass['retry'] {
  const retries = results.map(({ outcome }) => (outcome.kind === 'failed' ? outcome.retry : 'never'));
  if (tracked === undefined || tracked.unfinished || retries.includes('soon')) return 'soon';
  return retries.includes('minute') ? 'minute' : 'never';
}

/** The retry interval if namespaces may not be watched. */
const NAMESPACE_RETRY_MS = 10_000;

/** Emits an event for each change of a pass. */
function reportPass(
  state: AgentState,
  work: ManifestWork,
  status: ManifestWorkStatus,
  results: readonly ManifestResult[] | undefined,
): void {
  const { emit, clusterName } = state.settings;
  const identity = { cluster: clusterName, work: work.metadata.name };
  const before = findCondition(work.status?.conditions, 'Applied');
  const after = findCondition(status.conditions, 'Applied');
  const isChanged =
    after?.status !== before?.status || after?.observedGeneration !== before?.observedGeneration;
  if (isChanged && after?.status === 'True')
    emit({ kind: 'applied', ...identity, objects: status.resourceStatus?.manifests?.length ?? 0 });
  if (isChanged && after?.status === 'False')
    emit({ kind: 'failed', ...identity, problem: firstProblem(status) });
  if (!isChanged)
    for (const { task, outcome } of results ?? [])
      if (outcome.kind === 'applied' && outcome.wrote)
        emit({ kind: 'corrected', ...identity, object: `${task.meta.kind} ${task.meta.name}` });
  const values = feedbackOf(status);
  if (!jsonEqual(values, feedbackOf(work.status ?? {}))) emit({ kind: 'feedback', ...identity, values });
}

function firstProblem(status: ManifestWorkStatus): string {
  for (const manifest of status.resourceStatus?.manifests ?? []) {
    const applied = findCondition(manifest.conditions, 'Applied');
    if (applied?.status === 'False') return applied.message;
  }
  return '';
}

function feedbackOf(status: ManifestWorkStatus): FeedbackByObject {
  const byObject: Record<string, Readonly<Record<string, string>>> = {};
  for (const { resourceMeta, statusFeedback } of status.resourceStatus?.manifests ?? []) {
    const values = statusFeedback?.values ?? [];
    if (values.length === 0) continue;
    const where = (resourceMeta.namespace ?? '') === '' ? '' : `${resourceMeta.namespace}/`;
    byObject[`${resourceMeta.kind} ${where}${resourceMeta.name}`] = Object.fromEntries(
      values.map(({ name, fieldValue: value }) => [
        name,
        String(value.integer ?? value.string ?? value.boolean ?? value.jsonRaw ?? ''),
      ]),
    );
  }
  return byObject;
}

/**
 * The delay of the next pass without an event: the resync, an executor that may not read, and objects
 * that are not watched.
 */
function nextPass(state: AgentState, memory: WorkMemory, observation: WorkObservation): ReconcileOutcome {
  const { clock, random, statusSyncIntervalMs, drift, resyncIntervalMs } = state.settings;
  const nowMs = clock.now();
  const waits = [Math.max(0, memory.resyncAtMs - nowMs)];
  if (memory.resyncAtMs === 0) waits.splice(0, 1, resyncIntervalMs);
  if (observation.rights === 'denied') waits.push(DENIED_RETRY_MS);
  const untilAllowedMs = correctionAllowedAtMs(memory, resyncIntervalMs) - nowMs;
  if (memory.drifted && drift === 'watch') waits.push(Math.max(0, untilAllowedMs));
  if (memory.appliedInput === undefined && untilAllowedMs > 0) waits.push(untilAllowedMs);
  if (
    observation.rights === 'unknown' ||
    !observation.watched.every((object) => state.live.isWatched(object))
  )
    waits.push(statusSyncIntervalMs * (1 + 0.9 * random()));
  return { kind: 'requeue', afterMs: Math.min(...waits) };
}
