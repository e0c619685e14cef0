import type { ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';

/** The service account in whose name a work is applied. */
export interface Executor {
  readonly namespace: string;
  readonly name: string;
}

/** A user of the managed cluster in whose name requests are made. */
export interface ImpersonatedUser {
  readonly name: string;
  readonly groups: readonly string[];
}

/** rbac/v1 Subject. */
export interface RbacSubject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
}

/**
 * The executor of a work. `unusable`: it names no service account, so the work must not be applied.
 */
export type ExecutorChoice =
  | { readonly kind: 'none' }
  | { readonly kind: 'account'; readonly account: Executor }
  | { readonly kind: 'unusable'; readonly problem: string };

/** Reads `spec.executor`. A hub without OCM's admission also stores `{}` and subjects without a service account. */
export function parseExecutor(executor: ManifestWorkSpec['executor'] | null): ExecutorChoice {
  if (executor === undefined || executor === null) return { kind: 'none' };
  const subject = executor.subject as Partial<typeof executor.subject> | undefined;
  if (subject?.type !== 'ServiceAccount')
    return { kind: 'unusable', problem: 'only support ServiceAccount type for the executor' };
  const { namespace = '', name = '' } = subject.serviceAccount ?? {};
  return namespace === '' || name === ''
    ? { kind: 'unusable', problem: 'the executor service account is nil' }
    : { kind: 'account', account: { namespace, name } };
}

/** The user name of the service account in the API server. */
export function serviceAccountUser({ namespace, name }: Executor): ImpersonatedUser {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', 'system:authenticated', `system:serviceaccounts:${namespace}`],
  };
}

/** Whether a binding with this subject gives its rights to the executor, by name or by group. */
export function isSubject(subject: RbacSubject, executor: Executor): boolean {
  const user = serviceAccountUser(executor);
  switch (subject.kind) {
    case 'ServiceAccount':
      return subject.name === executor.name && subject.namespace === executor.namespace;
    case 'User':
      return subject.name === user.name;
    case 'Group':
      return user.groups.includes(subject.name);
    default:
      return false;
  }
}
