import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { kind, SERVICE_ACCOUNT } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';

const ROLE = kind('rbac.authorization.k8s.io', 'v1', 'Role', 'Namespaced');
const ROLE_BINDING = kind('rbac.authorization.k8s.io', 'v1', 'RoleBinding', 'Namespaced');

/** The token of the administrator of an embedded hub. */
export function adminToken(kubeconfig: string): string {
  return loadKubeConfig({ file: kubeconfig }).getCurrentUser()?.token ?? '';
}

/** A token of somebody who may do this with the placements of one namespace, and nothing else. */
export async function tenantToken(
  api: KubeApi,
  namespace: string,
  { name = 'tenant', verbs = ['get'] }: { readonly name?: string; readonly verbs?: readonly string[] } = {},
): Promise<string> {
  const metadata = { namespace, name };
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata };
  await api.create(SERVICE_ACCOUNT, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  const rules = [{ apiGroups: ['cluster.open-cluster-management.io'], resources: ['placements'], verbs }];
  await api.create(ROLE, { ...rbac, kind: 'Role', rules });
  await api.create(ROLE_BINDING, {
    ...{ ...rbac, kind: 'RoleBinding' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', ...metadata }],
  });
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata, spec: {} };
  const { status } = (await api.create(SERVICE_ACCOUNT, request, { subresource: 'token' })) as unknown as {
    readonly status: { readonly token: string };
  };
  return status.token;
}

export interface DashboardAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what an answer has is what the test says
  readonly json: any;
}

/** Asks a controller as a browser or a script would. */
export async function askDashboard(
  base: string | undefined,
  path: string,
  init: RequestInit & { readonly token?: string } = {},
): Promise<DashboardAnswer> {
  const { token, ...rest } = init;
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const headers = { ...authorization, ...(rest.headers as Record<string, string> | undefined) };
  const response = await fetch(`${base}${path}`, { ...rest, headers });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}
