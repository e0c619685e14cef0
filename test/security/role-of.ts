import type { TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';

const RBAC_GROUP = 'rbac.authorization.k8s.io';

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Grants rules to a user or group, in one namespace or ('') everywhere. */
export async function grant(
  hub: TestHub,
  subject: { readonly kind: 'User' | 'Group'; readonly name: string },
  where: { readonly namespace: string; readonly at?: string },
  rules: readonly Rule[],
): Promise<void> {
  const { namespace, at = '' } = where;
  const kind = namespace === '' ? 'ClusterRole' : 'Role';
  const base = `${at}/apis/${RBAC_GROUP}/v1${namespace === '' ? '' : `/namespaces/${namespace}`}`;
  const apiVersion = `${RBAC_GROUP}/v1`;
  const role = await hub.call('POST', `${base}/${kind.toLowerCase()}s`, {
    body: { apiVersion, kind, metadata: { generateName: 'test-' }, rules },
  });
  const roleRef = { apiGroup: RBAC_GROUP, kind, name: role.body.metadata.name as string };
  await hub.call('POST', `${base}/${kind.toLowerCase()}bindings`, {
    body: {
      apiVersion,
      kind: `${kind}Binding`,
      metadata: { generateName: 'test-' },
      roleRef,
      subjects: [{ apiGroup: RBAC_GROUP, ...subject }],
    },
  });
}

/** Headers with which the administrator acts as somebody else. */
export function as(user: string, ...groups: string[]): Record<string, string | string[]> {
  return { 'impersonate-user': user, ...(groups.length > 0 && { 'impersonate-group': groups }) };
}
