import { MANAGED_CLUSTER_SET, MANAGED_CLUSTER_SET_BINDING, NAMESPACE } from '../../../.cache/modules/packages/kube/src/model/kinds.js';

const CLUSTER_GROUP = 'cluster.open-cluster-management.io';
export const SET_LABEL = `${CLUSTER_GROUP}/clusterset`;
export const EXPECTED_ANNOTATION = 'bench/clusters';
/** OCM leaves them alone, Berth decides them. */
const OF_BERTH = { [`${CLUSTER_GROUP}/experimental-scheduling-disable`]: 'true', 'berth.dev/scheduler': 'berth' };

const namespace = (name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const numbered = (prefix, count) => Array.from({ length: count }, (_, at) => `${prefix}-${String(at).padStart(4, '0')}`);

/** So many clusters of a set. */
export const clusters = (set, count) =>
  numbered(set, count).map((name) => ({
    apiVersion: `${CLUSTER_GROUP}/v1`,
    kind: 'ManagedCluster',
    metadata: { name, labels: { [SET_LABEL]: set } },
    spec: { hubAcceptsClient: true },
  }));

/** So many placements of the set, in the namespace with the set's name. @param spec of each */
export const placements = (set, count, { spec, isOfBerth, expected }) =>
  numbered('p', count).map((name) => ({
    apiVersion: `${CLUSTER_GROUP}/v1beta1`,
    kind: 'Placement',
    metadata: { name, namespace: set, annotations: { [EXPECTED_ANNOTATION]: String(expected), 'berth.dev/removal-budget': '100%', ...(isOfBerth && OF_BERTH) } },
    spec,
  }));

/** A cluster set without clusters, and a namespace of the same name that it is bound to. */
export async function makeSet(hub, set) {
  await hub.create(NAMESPACE, [namespace(set)]);
  const kind = { apiVersion: `${CLUSTER_GROUP}/v1beta2` };
  await hub.create(MANAGED_CLUSTER_SET, [{ ...kind, kind: 'ManagedClusterSet', metadata: { name: set }, spec: { clusterSelector: { selectorType: 'ExclusiveClusterSetLabel' } } }]);
  await hub.create(MANAGED_CLUSTER_SET_BINDING, [{ ...kind, kind: 'ManagedClusterSetBinding', metadata: { name: set, namespace: set }, spec: { clusterSet: set } }]);
}

/** So many works of five manifests for the cluster. */
export const works = (count) =>
  numbered('w', count).map((name) => ({
    apiVersion: 'work.open-cluster-management.io/v1',
    kind: 'ManifestWork',
    metadata: { name, namespace: WORK_CLUSTER },
    spec: { workload: { manifests: manifests(name) } },
  }));

export const makeNamespaces = (hub, names) => hub.create(NAMESPACE, names.map(namespace));

/** The cluster that the works are for: also its namespace on the hub. */
export const WORK_CLUSTER = 'work-cluster';
/** Where the manifests of works go. */
export const WORKLOADS = 'workloads';

function manifests(name) {
  const metadata = { name, namespace: WORKLOADS };
  const labels = { app: name };
  const containers = [{ name: 'main', image: 'registry.example.com/app:1.2.3' }];
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: 'x'.repeat(300) } },
    { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { text: 'x'.repeat(300) } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { clusterIP: 'None', selector: labels, ports: [{ port: 80 }] } },
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } } },
  ];
}
