import { errorText } from '../../core/errors.ts';
import type { KindInfo } from '../../core/model/kinds.ts';
import type { ManifestWorkSpec } from '../../core/model/manifest-work.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';
import type { KubeApi } from '../../core/ports.ts';
import type { ImpersonatedUser } from './agent-options.ts';
import type { ExecutorRights } from './executor-rights.ts';
import { type Executor, userOf } from './executor-subject.ts';
import { failureText, isAlreadyExists, isRefusal, refusedResource } from './kube-failure.ts';
import type { ReadyTask } from './manifest-task.ts';

export const SUBJECT_ACCESS_REVIEW: KindInfo = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  namespaced: false,
};

export type ExecutorAnswer =
  | { readonly kind: 'allowed' }
  /** Asked again after a minute: rights are granted by people. */
  | { readonly kind: 'denied'; readonly problem: string }
  | { readonly kind: 'failed'; readonly problem: string };

const ALLOWED: ExecutorAnswer = { kind: 'allowed' };

const ESCALATING = new Set(['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings']);

interface ExecutorCheck {
  readonly cluster: KubeApi;
  readonly impersonate: ((user: ImpersonatedUser) => KubeApi) | undefined;
  readonly task: ReadyTask;
  readonly owned: boolean;
  /** Answers that still hold; absent: the server is asked each time. */
  readonly rights: ExecutorRights | undefined;
}

/**
 * May the work's executor do what the agent is about to do in its name? The apply itself uses the agent's own rights, so this
 * is the only guard; it is asked before every apply and under every strategy.
 */
export async function checkExecutor(
  executor: ManifestWorkSpec['executor'],
  check: ExecutorCheck,
): Promise<ExecutorAnswer> {
  if (executor === undefined) return ALLOWED;
  const { subject } = executor;
  if (subject.type !== 'ServiceAccount')
    return { kind: 'failed', problem: 'only support ServiceAccount type for the executor' };
  if (subject.serviceAccount === undefined)
    return { kind: 'failed', problem: 'the executor service account is nil' };
  const { namespace, name } = subject.serviceAccount;
  const user = userOf({ namespace, name });
  try {
    if (!(await isAllowed(check, { namespace, name }))) return denied(check.task, '');
    // Never remembered: the answer depends on what the object grants.
    return await checkEscalation(check, user);
  } catch (error) {
    return { kind: 'failed', problem: errorText(error) };
  }
}

function isAllowed(check: ExecutorCheck, executor: Executor): Promise<boolean> {
  const { rights, task, owned } = check;
  const ask = (): Promise<boolean> => hasVerbs(check, userOf(executor));
  if (rights === undefined) return ask();
  const { group, version, plural } = task.kind;
  const question = [group, version, plural, task.key.namespace, task.key.name, owned].join('/');
  return rights.allowed(executor, question, ask);
}

async function hasVerbs({ cluster, task, owned }: ExecutorCheck, user: ImpersonatedUser): Promise<boolean> {
  const { group, version, plural } = task.kind;
  for (const verb of ['create', 'update', 'patch', 'get', ...(owned ? ['delete'] : [])]) {
    const resourceAttributes = { group, version, resource: plural, ...task.key, verb };
    const review = await cluster.create(SUBJECT_ACCESS_REVIEW, {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      // A review has no name; the port's type wants one.
      metadata: {} as KubeObject['metadata'],
      spec: { user: user.name, groups: user.groups, resourceAttributes },
    });
    if ((review['status'] as { allowed?: boolean } | undefined)?.allowed !== true) return false;
  }
  return true;
}

/** Roles and bindings could grant more than the executor has: the API server itself decides, by a dry run as the executor. */
async function checkEscalation(check: ExecutorCheck, user: ImpersonatedUser): Promise<ExecutorAnswer> {
  const { task, impersonate } = check;
  if (task.kind.group !== 'rbac.authorization.k8s.io' || !ESCALATING.has(task.kind.plural)) return ALLOWED;
  if (impersonate === undefined)
    return {
      kind: 'failed',
      problem: 'the agent may not impersonate executors, so it applies no RBAC for them',
    };
  try {
    // The server adds the groups of a service account by itself; naming them would take the right to impersonate groups.
    await impersonate({ name: user.name, groups: [] }).create(task.kind, task.manifest, { dryRun: true });
    return ALLOWED;
  } catch (error) {
    // The server checks escalation before it looks whether the object exists.
    if (isAlreadyExists(error)) return ALLOWED;
    if (!isRefusal(error, 'forbidden')) throw error;
    // Then it is the agent that lacks a right, and nothing was said about the executor's.
    const mayNotImpersonate = refusedResource(error) === 'serviceaccounts';
    return denied(task, `, error: ${mayNotImpersonate ? failureText(error) : 'permission escalation'}`);
  }
}

function denied({ kind, key }: ReadyTask, why: string): ExecutorAnswer {
  const problem = `not allowed to apply the resource ${kind.group} ${kind.plural}, ${key.namespace} ${key.name}${why}, will try again in 1m0s`;
  return { kind: 'denied', problem };
}
