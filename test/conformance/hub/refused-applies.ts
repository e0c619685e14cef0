/** An apply that does not fit the schema of its kind, and the answer of kube-apiserver 1.35.4. */
export interface RefusedApply {
  readonly name: string;
  readonly path: string;
  readonly body: object;
  /** `message` of a Status with code 500 and without a reason. */
  readonly want: string;
}

const PLACEMENT = '/apis/cluster.open-cluster-management.io/v1beta1/namespaces/default/placements/p';
const CONFIG_MAP = '/api/v1/namespaces/default/configmaps/p';
const DEPLOYMENT = '/apis/apps/v1/namespaces/default/deployments/p';

const placement = (spec: object, metadata: object = {}): Pick<RefusedApply, 'path' | 'body'> => ({
  path: PLACEMENT,
  body: {
    apiVersion: 'cluster.open-cluster-management.io/v1beta1',
    kind: 'Placement',
    metadata: { name: 'p', ...metadata },
    spec,
  },
});
const configMap = (fields: object): Pick<RefusedApply, 'path' | 'body'> => ({
  path: CONFIG_MAP,
  body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'p', namespace: 'default' }, ...fields },
});
const deployment = (spec: object): Pick<RefusedApply, 'path' | 'body'> => ({
  path: DEPLOYMENT,
  body: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'p' }, spec },
});

const PLACEMENT_P = '(/p; cluster.open-cluster-management.io/v1beta1, Kind=Placement)';
const CONFIG_MAP_P = '(default/p; /v1, Kind=ConfigMap)';
const DEPLOYMENT_P = '(/p; apps/v1, Kind=Deployment)';

export const REFUSED_APPLIES: readonly RefusedApply[] = [
  {
    name: 'a mistyped field',
    ...placement({ numberOfCluster: 1 }),
    want: `${PLACEMENT_P}: .spec.numberOfCluster: field not declared in schema`,
  },
  {
    name: 'an unknown field of metadata',
    ...placement({}, { foo: 1 }),
    want: `${PLACEMENT_P}: .metadata.foo: field not declared in schema`,
  },
  {
    name: 'a text for a number',
    ...placement({ numberOfClusters: 'x' }),
    want: `${PLACEMENT_P}: .spec.numberOfClusters: expected numeric (int or float), got string`,
  },
  {
    name: 'a map for a list',
    ...placement({ clusterSets: { a: 1 } }),
    want: `${PLACEMENT_P}: .spec.clusterSets: expected list, got &{map[a:1]}`,
  },
  {
    name: 'an unknown field of a built-in kind',
    ...configMap({ dta: {} }),
    want: `${CONFIG_MAP_P}: .dta: field not declared in schema`,
  },
  {
    name: 'a number for a text',
    ...configMap({ data: { a: 1 } }),
    want: `${CONFIG_MAP_P}: .data.a: expected string, got &value.valueUnstructured{Value:1}`,
  },
  {
    name: 'nested values for a text',
    ...configMap({ data: { a: { b: { x: 'y' }, a: [1, 'z', null, 1.5, true] } } }),
    want: `${CONFIG_MAP_P}: .data.a: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":[]interface {}{1, "z", interface {}(nil), 1.5, true}, "b":map[string]interface {}{"x":"y"}}}`,
  },
  {
    name: 'nested values for a boolean',
    ...configMap({ immutable: { b: { x: 'y' }, a: [1, 'z', null, 1.5, true] } }),
    want: `${CONFIG_MAP_P}: .immutable: expected boolean, got &{map[a:[1 z <nil> 1.5 true] b:map[x:y]]}`,
  },
  {
    name: 'a list for a map',
    ...configMap({ data: [1, 'a', { q: 1 }] }),
    want: `${CONFIG_MAP_P}: .data: expected map, got &{[1 a map[q:1]]}`,
  },
  {
    name: 'a boolean for a number',
    ...deployment({ replicas: true }),
    want: `${DEPLOYMENT_P}: .spec.replicas: expected numeric (int or float), got bool`,
  },
  {
    name: 'numbers for containers',
    ...deployment({ template: { spec: { containers: [1] } } }),
    want: `${DEPLOYMENT_P}: .spec.template.spec.containers: element 0: associative list with keys may not have non-map elements`,
  },
];

/** The whole Status. */
export function refusalStatus({ want }: RefusedApply): object {
  const message = `failed to create typed patch object ${want}`;
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 };
}
