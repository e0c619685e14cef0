import { InputError } from '@berth/runtime/errors';
import { CLUSTER_SET_LABEL, type ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { readClusterSet } from './read-cluster-set.ts';
import { CLI_FIELD_MANAGER, type SetChange } from './set-change.ts';

/**
 * Adds clusters to a set by their label.
 *
 * @returns the change, as text for the user; it is applied unless the hub refuses
 * @throws InputError before anything is written, when a cluster or the set is missing, or when the
 * set selects by other labels
 */
export async function planAssignment(
  hub: KubeApi,
  set: string,
  clusters: readonly string[],
): Promise<readonly SetChange[]> {
  const { spec } = await readClusterSet(hub, set);
  if (spec?.clusterSelector?.selectorType === 'LabelSelector')
    throw new InputError('selects clusters by their labels, so no cluster can be added to it', {
      code: 'clusterset.selector',
      subject: `ManagedClusterSet ${set}`,
      hint: 'change the labels of the cluster, or the selector of the set',
    });
  const found = await Promise.all(clusters.map((name) => readCluster(hub, name)));
  return found.map(({ metadata: { name, labels } }) => {
    const before = labels?.[CLUSTER_SET_LABEL] ?? '';
    if (before === set) return { line: `Cluster ${name} is already in Clusterset ${set}` };
    const from = before === '' ? 'set' : `set, from ClusterSet ${before}`;
    return { line: `Cluster ${name} is ${from} to Clusterset ${set}`, apply: () => label(hub, name, set) };
  });
}

/**
 * Takes clusters out of a set. Placements that selected a cluster through the set may move their works.
 *
 * @throws InputError before anything is written, when a cluster is missing
 */
export async function planRemoval(
  hub: KubeApi,
  set: string,
  clusters: readonly string[],
): Promise<readonly SetChange[]> {
  const found = await Promise.all(clusters.map((name) => readCluster(hub, name)));
  return found.map(({ metadata: { name, labels } }) =>
    labels?.[CLUSTER_SET_LABEL] === set
      ? { line: `Cluster ${name} is removed from Clusterset ${set}`, apply: () => label(hub, name, null) }
      : { line: `Cluster ${name} is not in Clusterset ${set}` },
  );
}

async function readCluster(hub: KubeApi, name: string): Promise<ManagedCluster> {
  const cluster = await hub.get(MANAGED_CLUSTER, { namespace: '', name });
  if (cluster !== undefined) return cluster as ManagedCluster;
  throw new InputError('the hub has no such cluster', {
    code: 'kube.notfound',
    subject: `ManagedCluster ${name}`,
  });
}

async function label(hub: KubeApi, name: string, set: string | null): Promise<void> {
  const patch = { metadata: { labels: { [CLUSTER_SET_LABEL]: set } } };
  await hub.mergePatch(MANAGED_CLUSTER, { namespace: '', name }, patch, CLI_FIELD_MANAGER);
}
