import type { KindInfo } from '@berth/kube/model/kinds';
import { CONFIG_MAP, NAMESPACE } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { crd } from '../argocd-objects.ts';

export const ARGO_NAMESPACE = 'argocd';

const namespaced = (group: string, version: string, kind: string): KindInfo => ({
  group,
  version,
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
});

export const APPLICATION = namespaced('argoproj.io', 'v1alpha1', 'Application');
export const APPLICATION_SET = namespaced('argoproj.io', 'v1alpha1', 'ApplicationSet');
export const APP_PROJECT = namespaced('argoproj.io', 'v1alpha1', 'AppProject');
export const SECRET = namespaced('', 'v1', 'Secret');
export const ROLE = namespaced('rbac.authorization.k8s.io', 'v1', 'Role');
export const ROLE_BINDING = namespaced('rbac.authorization.k8s.io', 'v1', 'RoleBinding');
const CRD: KindInfo = {
  ...namespaced('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition'),
  namespaced: false,
};

/** What a stock installation of Argo CD has, as far as the ApplicationSet controller needs it: kinds, settings, rights, a project. */
export async function installArgo(api: KubeApi): Promise<void> {
  const crds = [
    crd('applications', 'Application'),
    crd('appprojects', 'AppProject'),
    crd('applicationsets', 'ApplicationSet', { status: {} }),
  ];
  for (const one of crds) await api.create(CRD, one as unknown as KubeObject);
  await api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: ARGO_NAMESPACE } });
  await api.create(CONFIG_MAP, inArgo('v1', 'ConfigMap', 'argocd-cm'));
  await api.create(
    SECRET,
    inArgo('v1', 'Secret', 'argocd-secret', { stringData: { 'server.secretkey': 'x' } }),
  );
  await api.create(ROLE, inArgo(RBAC, 'Role', CONTROLLER, { rules: STOCK_RULES }));
  await api.create(ROLE_BINDING, bindController(CONTROLLER));
}

/** An object in the namespace of Argo CD. */
export function inArgo(apiVersion: string, kind: string, name: string, rest: object = {}): KubeObject {
  const labels = { 'app.kubernetes.io/part-of': 'argocd' };
  return { apiVersion, kind, metadata: { name, namespace: ARGO_NAMESPACE, labels }, ...rest };
}

export const PROJECT = inArgo('argoproj.io/v1alpha1', 'AppProject', 'default', {
  spec: {
    sourceRepos: ['*'],
    destinations: [{ namespace: '*', server: '*' }],
    clusterResourceWhitelist: [{ group: '*', kind: '*' }],
  },
});

/**
 * A cluster as Argo CD knows it.
 * @param config JSON, or what is to be taken for it
 */
export function clusterSecret(
  name: string,
  { secret = `cluster-${name}`, server = `https://${name}:6443`, config = '{}' } = {},
): KubeObject {
  const labels = { 'argocd.argoproj.io/secret-type': 'cluster' };
  const metadata = { name: secret, namespace: ARGO_NAMESPACE, labels };
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { name, server, config } };
}

const RBAC = 'rbac.authorization.k8s.io/v1';
const CONTROLLER = 'argocd-applicationset-controller';
const SERVER = 'argocd-server';
const READ = ['get', 'list', 'watch'];
const ALL = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];
/** As far as argocd-server has them in a stock installation of Argo CD 3.6, in its own namespace. */
const SERVER_RULES = [
  { apiGroups: [''], resources: ['secrets', 'configmaps'], verbs: [...READ, 'create', 'update', 'patch'] },
  { apiGroups: ['argoproj.io'], resources: ['applications', 'applicationsets', 'appprojects'], verbs: ALL },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'list'] },
];

export const SERVER_RIGHTS: readonly (readonly [KindInfo, KubeObject])[] = [
  [ROLE, inArgo(RBAC, 'Role', SERVER, { rules: SERVER_RULES })],
  [ROLE_BINDING, bind(SERVER, SERVER)],
];

function bindController(role: string): KubeObject {
  return bind(role, CONTROLLER);
}

function bind(role: string, account: string): KubeObject {
  return inArgo(RBAC, 'RoleBinding', role, {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: role },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: ARGO_NAMESPACE }],
  });
}

/** Of the controller's own Role in Argo CD 3.6 (and 3.2), without those for leader election. */
const STOCK_RULES = [
  {
    apiGroups: ['argoproj.io'],
    resources: ['applications', 'applicationsets', 'applicationsets/finalizers'],
    verbs: ALL,
  },
  { apiGroups: ['argoproj.io'], resources: ['appprojects'], verbs: READ },
  { apiGroups: ['argoproj.io'], resources: ['applicationsets/status'], verbs: ['get', 'patch', 'update'] },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'get', 'list', 'patch', 'watch'] },
  { apiGroups: [''], resources: ['secrets', 'configmaps'], verbs: READ },
];
