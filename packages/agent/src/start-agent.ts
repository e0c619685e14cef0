import { Reflector } from '@berth/kube/cache/reflector';
import { setCondition } from '@berth/kube/model/condition-list';
import { APPLIED_MANIFEST_WORK, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { AppliedManifestWork, AppliedResource } from '@berth/ocm/kind/applied-manifest-work';
import { MANIFEST_WORK_FINALIZER, type ManifestWork } from '@berth/ocm/kind/manifest-work';
import { ConflictError, InputError } from '@berth/runtime/errors';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { ReconcileLoop, DONE, type ReconcileOutcome, RETRY } from '@berth/runtime/loop/reconciler';
import { sha256 } from '@berth/runtime/sha256';
import { readManifests } from './apply/apply-manifests.ts';
import { LiveObjects } from './cluster/live-objects.ts';
import { ExecutorReviews } from './executor/executor-reviews.ts';
import { ExecutorRights } from './executor/executor-rights.ts';
import { observeWork } from './work/observe-work.ts';
import type { AgentOptions, AgentSettings } from './options/agent-options.ts';
import { appliedWorkName, readApplied } from './work/applied-work.ts';
import { cleanUpApplied } from './work/clean-up-resources.ts';
import { isRefusal } from './rules/applied/kube-failure.ts';
import { isOwned } from './rules/applied/ownership.ts';
import { AgentState, writeFinalizers, ReadYourWritesCache } from './work/agent-state.ts';
import { syncWork } from './work/sync-work.ts';

export interface Agent {
  /** Resolves when works and AppliedManifestWorks were listed; nothing is applied before. */
  whenSynced(): Promise<void>;
  /** Stops in order. Killing an agent is safe as well, because every step can be repeated. */
  close(): Promise<void>;
}

const LOOP = {
  name: 'works',
  backoff: { initialMs: 50, maxMs: 300_000 },
  // A refusal of the cluster is retried like other failures.
  inputRetryMs: 0,
  // Requests have limits of their own, but a work with many objects on a slow API may need minutes. A late write is
  // harmless, because every write has a precondition.
  passLimitMs: 300_000,
};

/**
 * Starts a work agent: applies the ManifestWorks in the cluster's namespace on the hub to the
 * managed cluster, and reports the status. Compatible with OCM's agent: either can take over from
 * the other.
 */
export function startAgent(options: AgentOptions): Agent {
  const settings = agentSettings(options);
  const stop = new AbortController();
  const works = reflectorOf(settings, 'works');
  const applied = reflectorOf(settings, 'applied');
  const keys = { work: (name: string) => `work/${name}`, applied: (name: string) => `applied/${name}` };
  const live = new LiveObjects({
    ...settings,
    onChange: (work) => {
      state.memory(work).drifted = true;
      loop.add(keys.work(work));
    },
  });
  const rights = settings.executorCache ? new ExecutorRights(settings) : undefined;
  const own = {
    works: new ReadYourWritesCache(works),
    applied: new ReadYourWritesCache(applied),
  };
  const reviews = new ExecutorReviews({ ...settings, rights });
  const state = new AgentState({ settings, live, reviews, ...own });
  const loop = new ReconcileLoop({
    ...LOOP,
    clock: settings.clock,
    random: settings.random,
    log: settings.log,
    concurrency: settings.workers,
    reconcile: (key, signal) => reconcileKey(state, key, signal),
    onError: (key, error) => {
      // A deletion counts as a change, since it may follow our own write.
      if (error instanceof ConflictError || isRefusal(error, 'notfound'))
        state.forgetWrites(key.slice(key.indexOf('/') + 1));
    },
  });
  const synced = Promise.all([works.whenSynced(stop.signal), applied.whenSynced(stop.signal)]).then(() => {
    if (stop.signal.aborted) return;
    for (const work of works.store.list()) loop.add(keys.work(work.metadata.name));
    for (const object of applied.store.list()) loop.add(keyOfApplied(settings, object, keys));
    // The event of our own write needs no new pass: the write succeeded because the object was
    // unchanged.
    works.store.onChange(({ key, before, after }) => {
      if (own.works.isOwn(key, after)) return;
      const { name } = (after ?? before)?.metadata ?? { name: '' };
      loop.add(keys.work(name), isUserChange(before, after));
    });
    applied.store.onChange(({ key, before, after }) => {
      if (own.applied.isOwn(key, after)) return;
      const object = after ?? before;
      if (object !== undefined) loop.add(keyOfApplied(settings, object, keys));
    });
  });
  void works.run(stop.signal);
  void applied.run(stop.signal);
  return {
    whenSynced: () => synced,
    close: async () => {
      stop.abort();
      await loop.close();
      live.close();
      rights?.close();
    },
  };
}

function reflectorOf(settings: AgentSettings, of: 'works' | 'applied'): Reflector {
  const { hub, cluster, clusterName, clock, random } = settings;
  const log = settings.log.child({ cluster: clusterName });
  return of === 'works'
    ? new Reflector({ api: hub, kind: MANIFEST_WORK, namespace: clusterName, clock, random, log })
    : new Reflector({ api: cluster, kind: APPLIED_MANIFEST_WORK, clock, random, log });
}

/** A changed spec or changed labels reset the back-off; our own status writes do not. */
function isUserChange(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  return (
    before?.metadata.generation !== after?.metadata.generation ||
    !jsonEqual(before?.metadata.labels ?? {}, after?.metadata.labels ?? {})
  );
}

interface Keys {
  readonly work: (name: string) => string;
  readonly applied: (name: string) => string;
}

/** An AppliedManifestWork of this hub has the key of its work, so that both are never handled at the same time. */
function keyOfApplied({ hubHash }: AgentSettings, object: KubeObject, keys: Keys): string {
  const { name } = object.metadata;
  const prefix = `${hubHash}-`;
  return name.startsWith(prefix) ? keys.work(name.slice(prefix.length)) : keys.applied(name);
}

async function reconcileKey(state: AgentState, key: string, signal: AbortSignal): Promise<ReconcileOutcome> {
  const slash = key.indexOf('/');
  const name = key.slice(slash + 1);
  if (key.slice(0, slash) === 'applied') return evictOrIgnore(state, state.applied(name));
  const work = state.work(name);
  if (work === undefined) {
    const outcome = await evictOrIgnore(state, state.appliedOf(name));
    if (outcome.kind === 'done') state.forget(name);
    return outcome;
  }
  return work.metadata.deletionTimestamp === undefined
    ? syncWork(state, work, signal)
    : finalizeWork(state, work);
}

function evictOrIgnore(
  state: AgentState,
  applied: AppliedManifestWork | undefined,
): Promise<ReconcileOutcome> {
  return applied === undefined ? Promise.resolve(DONE) : evictApplied(state, applied);
}

/** A grace period of this length or more means "forever". */
const NEVER_MS = 100 * 365 * 24 * 3_600_000;

/**
 * An AppliedManifestWork of ours whose ManifestWork is not on the hub (deleted by force, hub
 * restored from a backup, another hub). It is kept for a grace period from its first detection, in
 * case the work is created again.
 */
async function evictApplied(state: AgentState, applied: AppliedManifestWork): Promise<ReconcileOutcome> {
  const { settings } = state;
  if (applied.spec.agentID !== settings.agentId) return DONE;
  if (applied.metadata.deletionTimestamp !== undefined)
    return (await cleanUpApplied(state, applied)) ? DONE : RETRY;
  if (settings.evictionGraceMs >= NEVER_MS) {
    await state.cancelEviction(applied);
    return DONE;
  }
  const nowMs = settings.clock.now();
  const started = applied.status?.evictionStartTime;
  if (started === undefined) {
    await state.writeAppliedStatus(applied, { ...applied.status, evictionStartTime: state.now() });
    return { kind: 'requeue', afterMs: settings.evictionGraceMs };
  }
  const leftMs = Date.parse(started) + settings.evictionGraceMs - nowMs;
  if (leftMs > 0) return { kind: 'requeue', afterMs: leftMs };
  const work = applied.spec.manifestWorkName;
  settings.log.info('the ManifestWork is still missing, so its objects are deleted', {
    work,
    cluster: settings.clusterName,
  });
  if (!(await cleanUpApplied(state, applied))) return RETRY;
  settings.emit({ kind: 'evicted', cluster: settings.clusterName, work });
  return DONE;
}

/**
 * Fills in the defaults (those of OCM, if it has them).
 * @throws InputError for invalid options
 */
function agentSettings(options: AgentOptions): AgentSettings {
  const { clusterName, hub } = options;
  if (clusterName === '')
    throw new InputError('is empty, expected the name of the managed cluster', {
      code: 'agent.cluster-name',
      subject: 'cluster name',
      hint: 'the cluster name is the namespace of the ManifestWorks on the hub',
    });
  const hubHash = hubHashOf(hub.server);
  return {
    ...options,
    hubHash,
    agentId: options.agentId === undefined || options.agentId === '' ? hubHash : options.agentId,
    random: options.random ?? Math.random,
    statusSyncIntervalMs: options.statusSyncIntervalMs ?? 10_000,
    resyncIntervalMs: options.resyncIntervalMs ?? 240_000,
    evictionGraceMs: options.evictionGraceMs ?? 3_600_000,
    workers: options.workers ?? 10,
    maxWatches: options.maxWatches ?? 200,
    drift: options.drift ?? 'watch',
    executorCache: options.executorCache ?? false,
    feedback: { rawJson: false, maxRawJsonBytes: 1024, ...options.feedback },
    emit: options.onEvent ?? (() => undefined),
  };
}

/**
 * Lower-case hex SHA-256 of the hub's server URL. The URL must never be normalised, because the names of
 * AppliedManifestWorks contain the hash.
 */
export function hubHashOf(server: string): string {
  return sha256(server);
}

/**
 * Finalizes a ManifestWork that is being deleted: deletes its objects, then removes the finalizer.
 */
async function finalizeWork(state: AgentState, deleting: ManifestWork): Promise<ReconcileOutcome> {
  const { settings } = state;
  const { name } = deleting.metadata;
  if (!(deleting.metadata.finalizers ?? []).includes(MANIFEST_WORK_FINALIZER)) return DONE;
  // Read from the server, because an outdated cache would leave objects behind.
  const applied = await readApplied(settings.cluster, appliedWorkName(settings, name));
  let work = deleting;
  if (applied !== undefined) {
    work = await reportDeletion(state, work);
    const stays = await orphanedObjects(state, work);
    if (!(await cleanUpApplied(state, applied, stays))) {
      const { status } = await observeWork(state, work, work.status ?? {});
      await state.writeWorkStatus(work, status);
      return RETRY;
    }
  }
  await dropWorkFinalizer(state, work);
  state.forget(name);
  settings.emit({ kind: 'deleted', cluster: settings.clusterName, work: name });
  return DONE;
}

async function reportDeletion(state: AgentState, work: ManifestWork): Promise<ManifestWork> {
  const condition = {
    type: 'Deleting',
    status: 'True' as const,
    reason: 'WorkDeleting',
    message: 'ManifestWork is being deleted',
    observedGeneration: work.metadata.generation,
  };
  const conditions = setCondition(work.status?.conditions ?? [], condition, state.now());
  return state.writeWorkStatus(work, { ...work.status, conditions });
}

/**
 * Objects that the last version of the work orphans stay, even if that version was never applied.
 * Objects that were removed from the work before are deleted.
 */
async function orphanedObjects(
  state: AgentState,
  { spec = {} }: ManifestWork,
): Promise<(resource: AppliedResource) => boolean> {
  if ((spec.deleteOption?.propagationPolicy ?? 'Foreground') === 'Foreground') return () => false;
  const tasks = await readManifests(spec, state.settings.cluster);
  const listed = ({ group = '', resource, namespace = '', name }: AppliedResource): boolean =>
    tasks.some(({ meta }) => {
      if ((meta.group ?? '') !== group || meta.name !== name) return false;
      // The kind does not resolve now. In doubt, the object stays.
      if ((meta.resource ?? '') === '') return true;
      return meta.resource === resource && (meta.namespace ?? '') === namespace;
    });
  return (resource) => listed(resource) && !isOwned(spec.deleteOption, resource);
}

async function dropWorkFinalizer(state: AgentState, work: ManifestWork): Promise<void> {
  const kept = (work.metadata.finalizers ?? []).filter((finalizer) => finalizer !== MANIFEST_WORK_FINALIZER);
  try {
    await writeFinalizers(state.settings.hub, work, kept);
  } catch (error) {
    if (!isRefusal(error, 'notfound')) throw error;
  }
}
