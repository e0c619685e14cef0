import type { ImpersonatedUser } from './agent-options.ts';

/** The service account in whose name a work is applied. */
export interface Executor {
  readonly namespace: string;
  readonly name: string;
}

/** rbac/v1 Subject. */
export interface RbacSubject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** The user that the API server makes of the service account. */
export function userOf({ namespace, name }: Executor): ImpersonatedUser {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', 'system:authenticated', `system:serviceaccounts:${namespace}`],
  };
}

/** Does a binding with this subject give its rights to the executor, by name or by group? */
export function isSubject(subject: RbacSubject, executor: Executor): boolean {
  const user = userOf(executor);
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
