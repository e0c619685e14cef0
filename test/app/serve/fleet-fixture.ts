import { stringify } from 'yaml';

const CLUSTER = 'cluster.open-cluster-management.io';

export const yaml = (...objects: object[]) => objects.map((object) => stringify(object)).join('---\n');

export const cluster = (name: string, over: { labels?: Record<string, string>; taints?: object[] } = {}) => ({
  apiVersion: `${CLUSTER}/v1`,
  kind: 'ManagedCluster',
  metadata: { name, labels: { [`${CLUSTER}/clusterset`]: 'prod', ...over.labels } },
  spec: { hubAcceptsClient: true, ...(over.taints === undefined ? {} : { taints: over.taints }) },
});

export const clusterSet = {
  apiVersion: `${CLUSTER}/v1beta2`,
  kind: 'ManagedClusterSet',
  metadata: { name: 'prod' },
  spec: {},
};

export const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

export const binding = (ns = 'team-a') => ({
  apiVersion: `${CLUSTER}/v1beta2`,
  kind: 'ManagedClusterSetBinding',
  metadata: { name: 'prod', namespace: ns },
  spec: { clusterSet: 'prod' },
});

export const placement = (
  name: string,
  spec: object = {},
  annotations: Record<string, string> = {},
  ns = 'team-a',
) => ({
  apiVersion: `${CLUSTER}/v1beta1`,
  kind: 'Placement',
  metadata: { name, namespace: ns, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) },
  spec: { clusterSets: ['prod'], ...spec },
});

/** Six clusters c1..c6, one set, one binding. */
export const baseFiles = {
  'set.yaml': yaml(namespace('team-a'), clusterSet, binding()),
  'clusters.yaml': yaml(...[1, 2, 3, 4, 5, 6].map((n) => cluster(`c${n}`))),
};
