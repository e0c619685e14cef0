import type { JsonObject } from '@berth/embedded-hub/json/json-value';
import { objectAt, textAt } from '@berth/embedded-hub/json/json-value';

export interface ArgoWorld {
  /** A folder with a Git repository, whose manifests are at its root. */
  readonly repository: string;
  readonly destination: {
    readonly server: string;
    readonly token: string;
    /** Base64 of PEM. */
    readonly authority: string;
  };
}

/** Argo CD's two kinds, its settings, a cluster, and one Application that syncs itself: in the order to make them. */
export function argoObjects({ repository, destination }: ArgoWorld): readonly JsonObject[] {
  const { server, token, authority } = destination;
  const config = { bearerToken: token, tlsClientConfig: { caData: authority } };
  const syncPolicy = {
    automated: { prune: true, selfHeal: true },
    syncOptions: ['CreateNamespace=true'],
  };
  return [
    crd('applications', 'Application'),
    crd('appprojects', 'AppProject'),
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'argocd' } },
    named('v1', 'ConfigMap', 'argocd-cm', {}),
    named('v1', 'ConfigMap', 'argocd-rbac-cm', {}),
    named('v1', 'Secret', 'argocd-secret', { stringData: { 'server.secretkey': 'unused' } }),
    named('v1', 'Secret', 'east', { stringData: { name: 'east', server, config: JSON.stringify(config) } }),
    named('argoproj.io/v1alpha1', 'AppProject', 'default', {
      spec: {
        sourceRepos: ['*'],
        destinations: [{ namespace: '*', server: '*' }],
        clusterResourceWhitelist: [{ group: '*', kind: '*' }],
      },
    }),
    named('argoproj.io/v1alpha1', 'Application', 'shop', {
      spec: {
        project: 'default',
        source: { repoURL: `file://${repository}`, path: '.', targetRevision: 'main' },
        destination: { server, namespace: 'shop' },
        syncPolicy,
      },
    }),
  ];
}

/** Where such an object is created. */
export function argoResource(object: JsonObject): string {
  const kind = textAt(object, 'kind');
  if (kind === 'CustomResourceDefinition') return '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const version = textAt(object, 'apiVersion');
  const root = version.includes('/') ? `/apis/${version}` : `/api/${version}`;
  const namespace = textAt(objectAt(object, 'metadata'), 'namespace');
  return `${root}${namespace === '' ? '' : `/namespaces/${namespace}`}/${kind.toLowerCase()}s`;
}

function named(apiVersion: string, kind: string, name: string, more: JsonObject): JsonObject {
  const labels =
    name === 'east'
      ? { 'argocd.argoproj.io/secret-type': 'cluster' }
      : { 'app.kubernetes.io/part-of': 'argocd' };
  return { apiVersion, kind, metadata: { name, namespace: 'argocd', labels }, ...more };
}

/**
 * A definition of one of Argo CD's kinds, free-form: the controllers decide with their own types. Only what they set to null is
 * in it: an API server takes a null away where a field is described and may not be null.
 * @param subresources `{status: {}}` where Argo CD's own definition has it
 */
export function crd(plural: string, kind: string, subresources: JsonObject = {}): JsonObject {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  // The application controller of Argo CD 3.6 sets the operation to null when it ends.
  const openAPIV3Schema = { ...open, ...(kind === 'Application' && { properties: { operation: open } }) };
  const version = {
    name: 'v1alpha1',
    served: true,
    storage: true,
    subresources,
    schema: { openAPIV3Schema },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.argoproj.io` },
    spec: {
      group: 'argoproj.io',
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [version],
    },
  };
}
