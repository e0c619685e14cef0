// What a stock installation of Argo CD puts on a cluster, as far as its controllers need it.
import { until } from './example-run.mjs';

const RESOURCES = '/apis/argoproj.io/v1alpha1/namespaces/argocd';

/** The path of the objects of this plural in the namespace of Argo CD. */
export function argoPath(plural, name) {
  return name === undefined ? `${RESOURCES}/${plural}` : `${RESOURCES}/${plural}/${name}`;
}

/** Writes the namespace, the kinds, the settings and the project `default`. */
export async function installArgo(cluster) {
  const existing = await cluster.call('GET', '/api/v1/namespaces/argocd');
  if (existing.status === 404)
    await cluster.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'argocd' } });
  for (const kind of ['Application', 'AppProject', 'ApplicationSet'])
    await cluster.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition(kind));
  for (const plural of ['applications', 'appprojects', 'applicationsets'])
    await until(`serving ${plural}`, () => cluster.call('GET', argoPath(plural)), ({ status }) => status === 200);
  for (const name of ['argocd-cm', 'argocd-rbac-cm'])
    await cluster.create('/api/v1/namespaces/argocd/configmaps', inArgo('v1', 'ConfigMap', name));
  const secret = inArgo('v1', 'Secret', 'argocd-secret', { stringData: { 'server.secretkey': 'of-the-example' } });
  await cluster.create('/api/v1/namespaces/argocd/secrets', secret);
  const project = {
    sourceRepos: ['*'],
    destinations: [{ namespace: '*', server: '*' }],
    clusterResourceWhitelist: [{ group: '*', kind: '*' }],
  };
  await cluster.create(
    argoPath('appprojects'),
    inArgo('argoproj.io/v1alpha1', 'AppProject', 'default', { spec: project }),
  );
}

export function inArgo(apiVersion, kind, name, rest = {}) {
  const labels = { 'app.kubernetes.io/part-of': 'argocd' };
  return { apiVersion, kind, metadata: { name, namespace: 'argocd', labels }, ...rest };
}

/** Argo CD's own definitions say more of the fields; its controllers do not need that. */
function definition(kind) {
  const singular = kind.toLowerCase();
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  // Argo CD sets the operation to null when it ends. An API server takes that away where the field is described.
  const properties = kind === 'Application' ? { operation: open } : {};
  const version = {
    name: 'v1alpha1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { ...open, properties } },
    ...(kind === 'ApplicationSet' && { subresources: { status: {} } }),
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.argoproj.io` },
    spec: {
      group: 'argoproj.io',
      scope: 'Namespaced',
      names: { plural: `${singular}s`, singular, kind, listKind: `${kind}List` },
      versions: [version],
    },
  };
}
