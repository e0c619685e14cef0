import type { KubeObject } from '@berth/kube/model/object-meta';

const ARGOCD = 'argocd';

/** An ApplicationSet with the plugin generator for this placement, `namespace/name`. */
export function pluginSet(name: string, placement: string, parameters: object = {}): KubeObject {
  const input = { parameters: { placement, ...parameters } };
  const plugin = { configMapRef: { name: 'berth' }, input };
  return applicationSet(name, [{ plugin }]);
}

/** One that reads the PlacementDecisions of a placement in the namespace of Argo CD. */
export function resourceSet(name: string, placement: string): KubeObject {
  const labelSelector = { matchLabels: { 'cluster.open-cluster-management.io/placement': placement } };
  return applicationSet(name, [{ clusterDecisionResource: { configMapRef: 'pages', labelSelector } }]);
}

function applicationSet(name: string, generators: readonly object[]): KubeObject {
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'ApplicationSet',
    metadata: { name, namespace: ARGOCD },
    spec: { generators, template: {} },
  };
}

/** With which clusterDecisionResource lists PlacementDecisions. */
export const PAGES_CONFIG: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'pages', namespace: ARGOCD },
  data: {
    apiVersion: 'cluster.open-cluster-management.io/v1beta1',
    kind: 'placementdecisions',
    statusListKey: 'decisions',
    matchKey: 'clusterName',
  },
};

/** Free-form: one definition serves both shapes of GitOpsCluster. */
export function crd(
  group: string,
  kind: string,
  versions: readonly string[] = ['v1alpha1'],
  status = true,
): KubeObject {
  const plural = `${kind.toLowerCase()}s`;
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: versions.map((name, at) => ({
        name,
        served: true,
        storage: at === 0,
        schema: { openAPIV3Schema },
        ...(status && { subresources: { status: {} } }),
      })),
    },
  };
}
