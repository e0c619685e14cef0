import { NAMESPACE } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { OwnerReference } from '@berth/kube/model/object-meta';
import type { ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { Clock } from '@berth/runtime/clock/clock';
import { errorText } from '@berth/runtime/errors';
import { sleep } from '@berth/runtime/loop/sleep';
import type { LiveObjects, WatchedObject } from '../cluster/live-objects.ts';
import { type ManifestTask, objectIdOf, type ReadyTask, readManifest } from '../cluster/manifest-task.ts';
import type { ExecutorReviews, ExecutorVerb } from '../executor/executor-reviews.ts';
import type { AgentSettings } from '../options/agent-options.ts';
import {
  parseExecutor,
  type ImpersonatedUser,
  type Executor,
  serviceAccountUser,
} from '../rules/applied/executor-subject.ts';
import {
  type ApplyOutcome,
  failureText,
  isAlreadyExists,
  isRefusal,
  refusedResource,
} from '../rules/applied/kube-failure.ts';
import { isOwned, isShared } from '../rules/applied/ownership.ts';
import { applyOrder } from '../rules/manifests/kind-order.ts';
import { resolveManifestConfig } from '@berth/ocm/kind/manifest-config';
import type { ApplyCache } from './apply-cache.ts';
import { applyManifest } from './apply-manifest.ts';

export interface ManifestResult {
  readonly task: ManifestTask;
  readonly outcome: ApplyOutcome;
}

export interface ApplyWork {
  readonly settings: AgentSettings;
  readonly live: LiveObjects;
  readonly memory: ApplyCache;
  readonly reviews: ExecutorReviews;
  readonly spec: ManifestWorkSpec;
  readonly tasks: readonly ManifestTask[];
  readonly name: string;
  readonly owner: OwnerReference;
  /** Whether to correct only drift, because the work itself did not change. */
  readonly drift: boolean;
  /** Whether the status of the work says that this manifest is complete. Such a manifest is not applied again. */
  readonly isComplete: (task: ManifestTask) => boolean;
  /** Whether the object is among the resources that were applied before. */
  readonly isRecorded: (task: ReadyTask) => boolean;
  /** Whether the work's status shows that this version of the manifest was applied. */
  readonly wasApplied: (task: ManifestTask) => boolean;
  /** Aborts between two manifests. */
  readonly signal: AbortSignal;
}

/** The manifests of a work, each resolved or with an error. */
export async function readManifests(
  spec: ManifestWorkSpec,
  cluster: KubeApi,
): Promise<readonly ManifestTask[]> {
  const tasks: ManifestTask[] = [];
  for (const [ordinal, manifest] of (spec.workload?.manifests ?? []).entries())
    tasks.push(await readManifest(manifest, ordinal, cluster));
  return tasks;
}

const CONFLICT_TRIES = 4;
const CONFLICT_WAIT_MS = 10;

/**
 * Applies every manifest in the order of kinds. The results are in the order of the spec. A failure does not stop the
 * others.
 */
export async function applyManifests(work: ApplyWork): Promise<readonly ManifestResult[]> {
  const { tasks } = work;
  const ids = tasks.flatMap((task) => (task.ready ? [objectIdOf(task)] : []));
  // A manifest whose kind is not resolved now may be one of the known objects.
  if (ids.length === tasks.length) work.memory.keepOnly(new Set(ids));
  const outcomes = new Map<ManifestTask, ApplyOutcome>();
  let remaining = applyOrder(tasks.map(kindNameOf)).flatMap((index) => tasks[index] ?? []);
  for (let attempt = 0; attempt < CONFLICT_TRIES && remaining.length > 0; attempt++) {
    if (attempt > 0) await pause(work.settings.clock, attempt, work.signal);
    for (const task of remaining) {
      if (work.signal.aborted) break;
      const outcome = await applyTask(work, task, attempt > 0);
      outcomes.set(task, outcome);
      await cacheOutcome(work, task, outcome);
    }
    remaining = remaining.filter((task) => {
      const outcome = outcomes.get(task);
      return outcome?.kind === 'failed' && outcome.conflict;
    });
  }
  return tasks.flatMap((task) => {
    const outcome = outcomes.get(task);
    return outcome === undefined ? [] : [{ task, outcome }];
  });
}

function pause(clock: Clock, attempt: number, signal: AbortSignal): Promise<void> {
  return sleep(clock, CONFLICT_WAIT_MS * 5 ** (attempt - 1), signal);
}

function kindNameOf(task: ManifestTask): string | undefined {
  return task.ready ? task.kind.kind : task.kindName;
}

async function applyTask(work: ApplyWork, task: ManifestTask, fresh: boolean): Promise<ApplyOutcome> {
  if (!task.ready) return failed(task.problem, 'soon');
  if (work.isComplete(task)) return { kind: 'applied', object: undefined, wrote: false };
  const unchanged = work.drift ? await outcomeToKeep(work, task) : undefined;
  if (unchanged !== undefined) return unchanged;
  const { spec, settings } = work;
  const owned = isOwned(spec.deleteOption, task.meta);
  const verdict = await checkExecutor(spec.executor, {
    reviews: work.reviews,
    impersonate: settings.impersonate,
    task,
    owned,
  });
  if (verdict.kind === 'denied') return failed(verdict.problem, 'minute');
  if (verdict.kind === 'failed') return failed(verdict.problem, 'soon');
  return applyManifest({
    work: work.name,
    cluster: verdict.cluster ?? settings.cluster,
    live: work.live,
    memory: work.memory,
    task,
    ownership: { reference: work.owner, owned },
    strategy: resolveManifestConfig(spec.manifestConfigs ?? [], task.meta).updateStrategy,
    fresh,
    likelyNew: !fresh && !work.isRecorded(task) && !work.live.isWatched(task),
    appliedBefore: work.wasApplied(task),
    mayDelete: () => mayDelete(work, task),
  });
}

/** An object that the work does not own is applied without the right to delete. Replacing it needs that right anyway. */
async function mayDelete({ spec, reviews }: ApplyWork, task: ReadyTask): Promise<boolean> {
  const choice = parseExecutor(spec.executor);
  return (
    choice.kind === 'none' || (choice.kind === 'account' && reviews.isAllowed(choice.account, 'delete', task))
  );
}

/**
 * The last outcome, for drift that is not corrected immediately; otherwise undefined. There are two
 * cases. Another work owns the object, too: both would overwrite each other endlessly, so only the
 * resync corrects it. Or the server refused the same write for the same state of the object.
 */
async function outcomeToKeep(work: ApplyWork, task: ReadyTask): Promise<ApplyOutcome | undefined> {
  const last = work.memory.lastOutcome(objectIdOf(task));
  if (last === undefined) return undefined;
  const live = await work.live.get(task).catch(() => undefined);
  if (live === undefined) return undefined;
  const shared = isShared(live.metadata, work.owner);
  if (!shared && !work.memory.isHopeless(objectIdOf(task), live)) return undefined;
  return last.kind === 'applied' ? { ...last, object: live, wrote: false } : last;
}

async function cacheOutcome(work: ApplyWork, task: ManifestTask, outcome: ApplyOutcome): Promise<void> {
  if (!task.ready) return;
  const hopeless = outcome.kind === 'failed' && outcome.retry === 'never';
  const live = hopeless ? await work.live.get(task).catch(() => undefined) : undefined;
  // The watch caches objects, so they are not stored here again.
  const withoutObject = outcome.kind === 'applied' ? { ...outcome, object: undefined } : outcome;
  work.memory.noteOutcome(objectIdOf(task), withoutObject, live);
}

function failed(problem: string, retry: 'soon' | 'minute'): ApplyOutcome {
  return { kind: 'failed', problem, ignoreField: false, retry, conflict: false };
}

type ExecutorVerdict =
  /** `cluster`, if present, is the client to write with: it impersonates the executor on the managed cluster. */
  | { readonly kind: 'allowed'; readonly cluster?: KubeApi | undefined }
  /** Checked again after a minute, since the right may be granted meanwhile. */
  | { readonly kind: 'denied'; readonly problem: string }
  | { readonly kind: 'failed'; readonly problem: string };

interface ExecutorCheck {
  readonly reviews: ExecutorReviews;
  readonly impersonate: ((user: ImpersonatedUser) => KubeApi) | undefined;
  readonly task: ReadyTask;
  readonly owned: boolean;
}

const ALLOWED: ExecutorVerdict = { kind: 'allowed' };

/**
 * Checks whether the work's executor may do what the agent is about to do in its name. Most objects
 * are applied with the agent's own rights, so this check is their only protection; it runs before
 * every apply with every strategy. RBAC objects are written as the executor, because only the API
 * server can decide whether they grant more rights than the executor has.
 */
async function checkExecutor(
  executor: ManifestWorkSpec['executor'],
  check: ExecutorCheck,
): Promise<ExecutorVerdict> {
  const choice = parseExecutor(executor);
  if (choice.kind === 'none') return ALLOWED;
  if (choice.kind === 'unusable') return { kind: 'failed', problem: choice.problem };
  try {
    if (!(await hasVerbs(check, choice.account))) return denied(check.task, '');
    return await checkEscalation(check, serviceAccountUser(choice.account));
  } catch (error) {
    return { kind: 'failed', problem: errorText(error) };
  }
}

async function hasVerbs({ reviews, task, owned }: ExecutorCheck, executor: Executor): Promise<boolean> {
  const verbs: readonly ExecutorVerb[] = [
    'create',
    'update',
    'patch',
    'get',
    ...(owned ? ['delete' as const] : []),
  ];
  for (const verb of verbs) if (!(await reviews.isAllowed(executor, verb, task))) return false;
  return true;
}

const ESCALATING = new Set(['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings']);

/** Roles and bindings could grant more than the executor has. A dry run as the executor makes the API server decide. */
async function checkEscalation(check: ExecutorCheck, user: ImpersonatedUser): Promise<ExecutorVerdict> {
  const { task, impersonate } = check;
  if (task.kind.group !== 'rbac.authorization.k8s.io' || !ESCALATING.has(task.kind.plural)) return ALLOWED;
  if (impersonate === undefined)
    return {
      kind: 'failed',
      problem: 'the agent may not impersonate executors, so it applies no RBAC objects for them',
    };
  // The server adds the groups of a service account itself; sending them would need the right to
  // impersonate groups.
  const cluster = impersonate({ name: user.name, groups: [] });
  try {
    await cluster.create(task.kind, task.manifest, { dryRun: true });
    return { kind: 'allowed', cluster };
  } catch (error) {
    // The server checks escalation before it checks whether the object exists.
    if (isAlreadyExists(error)) return { kind: 'allowed', cluster };
    if (!isRefusal(error, 'forbidden')) throw error;
    // The agent lacks a right, so the rights of the executor are unknown.
    const mayNotImpersonate = refusedResource(error) === 'serviceaccounts';
    return denied(task, `, error: ${mayNotImpersonate ? failureText(error) : 'permission escalation'}`);
  }
}

function denied({ kind, key }: ReadyTask, why: string): ExecutorVerdict {
  const problem = `not allowed to apply the resource ${kind.group} ${kind.plural}, ${key.namespace} ${key.name}${why}, will try again in 1m0s`;
  return { kind: 'denied', problem };
}

/** Missing namespaces that manifests of a work wait for. Each manifest is applied when its namespace exists. */
export function missingNamespaces(results: readonly ManifestResult[]): readonly WatchedObject[] {
  const names = results.flatMap(({ outcome }) =>
    outcome.kind === 'failed' ? (outcome.missingNamespace ?? []) : [],
  );
  return [...new Set(names)].map((name) => ({ kind: NAMESPACE, key: { namespace: '', name } }));
}
