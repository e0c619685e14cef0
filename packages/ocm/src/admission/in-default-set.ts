import { CLUSTER_SET_LABEL, type ManagedCluster } from '../kind/managed-cluster.ts';
import { DEFAULT_SET } from './complete-cluster.ts';

/** Decisions are made again when a cluster is another object. */
const LABELLED = new WeakMap<ManagedCluster, ManagedCluster>();

/** Adds the label of the default set where admission does; see `completeCluster`. */
export function inDefaultSet(cluster: ManagedCluster): ManagedCluster {
  const { labels = {} } = cluster.metadata;
  if ((labels[CLUSTER_SET_LABEL] ?? '') !== '') return cluster;
  let labelled = LABELLED.get(cluster);
  if (labelled === undefined) {
    const all = { ...labels, [CLUSTER_SET_LABEL]: DEFAULT_SET };
    LABELLED.set(cluster, (labelled = { ...cluster, metadata: { ...cluster.metadata, labels: all } }));
  }
  return labelled;
}
