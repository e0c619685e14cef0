/** A resource of the hub with an object that it accepts. */
export interface GoodObject {
  /** Path of the collection. */
  readonly path: string;
  readonly object: Readonly<Record<string, unknown>> & { readonly metadata: { readonly name: string } };
}

const pod = {
  metadata: { labels: { app: 'web' } },
  spec: {
    containers: [
      {
        name: 'web',
        image: 'web:1',
        ports: [{ name: 'http', containerPort: 80 }],
        env: [{ name: 'A', value: '1' }],
      },
    ],
    volumes: [{ name: 'tmp', emptyDir: {} }],
  },
};

const ONE: GoodObject['object']['metadata'] & Readonly<Record<string, unknown>> = {
  name: 'one',
  labels: { a: 'b' },
  annotations: { note: 'x' },
};

const good = (
  path: string,
  apiVersion: string,
  kind: string,
  fields: Readonly<Record<string, unknown> & { metadata?: { name: string } }>,
): GoodObject => ({
  path,
  object: { apiVersion, kind, metadata: ONE, ...fields },
});

const widget = {
  group: 'example.org',
  scope: 'Namespaced',
  names: { plural: 'widgets', kind: 'Widget', singular: 'widget', listKind: 'WidgetList' },
  versions: [
    {
      name: 'v1',
      served: true,
      storage: true,
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: {
              type: 'object',
              properties: {
                size: { type: 'integer', minimum: 0, default: 1 },
                names: { type: 'array', maxItems: 5, items: { type: 'string', pattern: '^[a-z]+$' } },
              },
              'x-kubernetes-validations': [{ rule: 'self.size < 10', message: 'too large' }],
            },
          },
        },
      },
    },
  ],
};

/** One object of every family of kinds that the hub validates. */
export const GOOD_OBJECTS: readonly GoodObject[] = [
  good('/api/v1/namespaces/ns/configmaps', 'v1', 'ConfigMap', {
    data: { a: 'b' },
    binaryData: { c: 'AA==' },
  }),
  good('/api/v1/namespaces/ns/secrets', 'v1', 'Secret', { type: 'Opaque', stringData: { a: 'b' } }),
  good('/api/v1/namespaces/ns/services', 'v1', 'Service', {
    spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
  }),
  good('/api/v1/namespaces/ns/pods', 'v1', 'Pod', { spec: pod.spec }),
  good('/api/v1/namespaces', 'v1', 'Namespace', {}),
  good('/apis/apps/v1/namespaces/ns/deployments', 'apps/v1', 'Deployment', {
    spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: pod },
  }),
  good('/apis/batch/v1/namespaces/ns/jobs', 'batch/v1', 'Job', {
    spec: { template: { ...pod, spec: { ...pod.spec, restartPolicy: 'Never' } } },
  }),
  good('/apis/networking.k8s.io/v1/namespaces/ns/ingresses', 'networking.k8s.io/v1', 'Ingress', {
    spec: {
      rules: [
        {
          host: 'a.example.org',
          http: {
            paths: [
              { path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } },
            ],
          },
        },
      ],
    },
  }),
  good('/apis/rbac.authorization.k8s.io/v1/clusterroles', 'rbac.authorization.k8s.io/v1', 'ClusterRole', {
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
  }),
  good(
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    { metadata: { name: 'widgets.example.org' }, spec: widget },
  ),
  good(
    '/apis/cluster.open-cluster-management.io/v1/managedclusters',
    'cluster.open-cluster-management.io/v1',
    'ManagedCluster',
    {
      spec: {
        hubAcceptsClient: false,
        taints: [{ key: 'a', value: 'b', effect: 'NoSelect', timeAdded: '2026-01-01T00:00:00Z' }],
      },
    },
  ),
  good(
    '/apis/cluster.open-cluster-management.io/v1beta1/namespaces/ns/placements',
    'cluster.open-cluster-management.io/v1beta1',
    'Placement',
    {
      spec: {
        numberOfClusters: 2,
        predicates: [
          {
            requiredClusterSelector: {
              labelSelector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] },
            },
          },
        ],
        prioritizerPolicy: { configurations: [{ scoreCoordinate: { builtIn: 'Steady' }, weight: 3 }] },
      },
    },
  ),
  good(
    '/apis/work.open-cluster-management.io/v1/namespaces/ns/manifestworks',
    'work.open-cluster-management.io/v1',
    'ManifestWork',
    {
      spec: {
        workload: {
          manifests: [
            {
              apiVersion: 'v1',
              kind: 'ConfigMap',
              metadata: { name: 'a', namespace: 'b' },
              data: { a: 'b' },
            },
          ],
        },
        manifestConfigs: [
          {
            resourceIdentifier: { group: '', resource: 'configmaps', name: 'a', namespace: 'b' },
            feedbackRules: [{ type: 'JSONPaths', jsonPaths: [{ name: 'a', path: '.data.a' }] }],
            updateStrategy: { type: 'ServerSideApply' },
          },
        ],
      },
    },
  ),
];
