import {
  apiVersionOf,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  NAMESPACE,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { CLUSTER_SET_LABEL, type ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManagedClusterSet, ManagedClusterSetBinding } from '@berth/ocm/kind/managed-cluster-set';
import { InputError } from '@berth/runtime/errors';
import { formatNameList } from '@berth/runtime/text/name-list';

/** One step of a command that changes a hub. */
export interface SetChange {
  /** A line for the user: what is changed, or why nothing is. */
  readonly line: string;
  /** Absent if nothing has to be done. */
  readonly apply?: () => Promise<void>;
}

export const CLI_FIELD_MANAGER = { fieldManager: 'berth-cli' } as const;

/** @throws InputError when the hub has no set of this name */
export async function readClusterSet(hub: KubeApi, name: string): Promise<ManagedClusterSet> {
  const set = await hub.get(MANAGED_CLUSTER_SET, { namespace: '', name });
  if (set !== undefined) return set as ManagedClusterSet;
  throw new InputError('the hub has no such set', {
    code: 'kube.notfound',
    subject: `ManagedClusterSet ${name}`,
    hint: `create it with berth clusterset create ${name}`,
  });
}

/** OCM's registration controller creates these sets again. */
const PERMANENT_SETS = ['default', 'global'];

/** A set of the clusters that carry its label. */
export async function planCreation(hub: KubeApi, name: string): Promise<SetChange> {
  if ((await hub.get(MANAGED_CLUSTER_SET, { namespace: '', name })) !== undefined)
    return { line: `Clusterset ${name} already exists` };
  const set = {
    apiVersion: apiVersionOf(MANAGED_CLUSTER_SET),
    kind: MANAGED_CLUSTER_SET.kind,
    metadata: { name },
    spec: { clusterSelector: { selectorType: 'ExclusiveClusterSetLabel' } },
  };
  return {
    line: `Clusterset ${name} is created`,
    apply: async () => void (await hub.create(MANAGED_CLUSTER_SET, set, CLI_FIELD_MANAGER)),
  };
}

/**
 * Deletes a set that is not bound to any namespace. Its clusters keep their label.
 *
 * @throws InputError for a set that is bound, and for a set that every hub has
 */
export async function planDeletion(hub: KubeApi, name: string): Promise<SetChange> {
  if (PERMANENT_SETS.includes(name))
    throw new InputError('cannot be deleted: every hub creates this set again', {
      code: 'clusterset.standing',
      subject: `ManagedClusterSet ${name}`,
    });
  const set = await hub.get(MANAGED_CLUSTER_SET, { namespace: '', name });
  if (set === undefined) return { line: `Clusterset ${name} does not exist` };
  const { items } = await hub.list(MANAGED_CLUSTER_SET_BINDING);
  const bound = items
    .filter(({ metadata }) => metadata.name === name)
    .map(({ metadata }) => metadata.namespace ?? '');
  if (bound.length > 0)
    throw new InputError(`is still bound to ${formatNameList(bound.sort())}`, {
      code: 'clusterset.bound',
      subject: `ManagedClusterSet ${name}`,
      hint: `berth clusterset unbind ${name} --namespace ${bound[0] ?? ''}`,
    });
  return {
    line: `Clusterset ${name} is deleted`,
    apply: async () =>
      void (await hub.delete(MANAGED_CLUSTER_SET, { namespace: '', name }, { uid: set.metadata.uid })),
  };
}

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

/**
 * Allows placements of a namespace to select from a set, by a ManagedClusterSetBinding.
 *
 * @throws InputError before anything is written, when the set or the namespace is missing
 */
export async function planBinding(hub: KubeApi, set: string, namespace: string): Promise<SetChange> {
  await readClusterSet(hub, set);
  if ((await hub.get(NAMESPACE, { namespace: '', name: namespace })) === undefined)
    throw new InputError('the hub has no such namespace', {
      code: 'kube.notfound',
      subject: `Namespace ${namespace}`,
    });
  if ((await readBinding(hub, set, namespace)) !== undefined)
    return { line: `Clusterset ${set} is already bound to Namespace ${namespace}` };
  const binding = {
    apiVersion: apiVersionOf(MANAGED_CLUSTER_SET_BINDING),
    kind: MANAGED_CLUSTER_SET_BINDING.kind,
    metadata: { name: set, namespace },
    spec: { clusterSet: set },
  };
  return {
    line: `Clusterset ${set} is bound to Namespace ${namespace}`,
    apply: async () => void (await hub.create(MANAGED_CLUSTER_SET_BINDING, binding, CLI_FIELD_MANAGER)),
  };
}

/** Removes the binding. The set may be deleted already. */
export async function planUnbinding(hub: KubeApi, set: string, namespace: string): Promise<SetChange> {
  const binding = await readBinding(hub, set, namespace);
  if (binding === undefined) return { line: `Clusterset ${set} is not bound to Namespace ${namespace}` };
  const { name, uid } = binding.metadata;
  return {
    line: `Clusterset ${set} is unbound from Namespace ${namespace}`,
    apply: async () => void (await hub.delete(MANAGED_CLUSTER_SET_BINDING, { namespace, name }, { uid })),
  };
}

async function readBinding(
  hub: KubeApi,
  set: string,
  namespace: string,
): Promise<ManagedClusterSetBinding | undefined> {
  const binding = await hub.get(MANAGED_CLUSTER_SET_BINDING, { namespace, name: set });
  return binding as ManagedClusterSetBinding | undefined;
}
