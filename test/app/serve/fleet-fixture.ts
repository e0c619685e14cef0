import { stringify } from 'yaml';
import { template } from '../../core/work/replica-set-harness.ts';

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

/** Works of the placement `web` in `team-a`. */
export const replicaSet = {
  apiVersion: 'work.open-cluster-management.io/v1alpha1',
  kind: 'ManifestWorkReplicaSet',
  metadata: { name: 'web', namespace: 'team-a' },
  spec: { manifestWorkTemplate: template('1'), placementRefs: [{ name: 'web' }] },
};

/** Of a cluster that left the set of the others. */
export const outside = { labels: { [`${CLUSTER}/clusterset`]: 'old' } };

/** c1..c6, of which the first ones left the set. */
export const retired = (count: number) =>
  yaml(...[1, 2, 3, 4, 5, 6].map((n) => cluster(`c${n}`, n <= count ? outside : {})));

/** Six clusters c1..c6, one set, one binding. */
export const baseFiles = {
  'set.yaml': yaml(namespace('team-a'), clusterSet, binding()),
  'clusters.yaml': retired(0),
};
