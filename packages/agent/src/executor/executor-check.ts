import { errorText } from '@berth/runtime/errors';
import type { ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { ImpersonatedUser } from '../rules/applied/executor-subject.ts';
import type { ExecutorReviews, ExecutorVerb } from './executor-reviews.ts';
import { parseExecutor, type Executor, serviceAccountUser } from '../rules/applied/executor-subject.ts';
import { failureText, isAlreadyExists, isRefusal, refusedResource } from '../rules/applied/kube-failure.ts';
import type { ReadyTask } from '../cluster/manifest-task.ts';

export type ExecutorVerdict =
  /** `cluster`, if present, is the client to write with: it impersonates the executor on the managed cluster. */
  | { readonly kind: 'allowed'; readonly cluster?: KubeApi | undefined }
  /** Checked again after a minute, since the right may be granted meanwhile. */
  | { readonly kind: 'denied'; readonly problem: string }
  | { readonly kind: 'failed'; readonly problem: string };

const ALLOWED: ExecutorVerdict = { kind: 'allowed' };

const ESCALATING = new Set(['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings']);

interface ExecutorCheck {
  readonly reviews: ExecutorReviews;
  readonly impersonate: ((user: ImpersonatedUser) => KubeApi) | undefined;
  readonly task: ReadyTask;
  readonly owned: boolean;
}

/**
 * Checks whether the work's executor may do what the agent is about to do in its name. Most objects
 * are applied with the agent's own rights, so this check is their only protection; it runs before
 * every apply with every strategy. RBAC objects are written as the executor, because only the API
 * server can decide whether they grant more rights than the executor has.
 */
export async function checkExecutor(
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
