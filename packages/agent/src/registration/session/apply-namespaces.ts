import { errorText } from '@berth/runtime/errors';
import { NAMESPACE } from '@berth/kube/model/kinds';
import type { ManagedCluster, ManagedNamespaceStatus } from '@berth/ocm/kind/managed-cluster';
import type { KubeApi } from '@berth/kube/model/kube-api';
import {
  managedNamespaceLabel,
  namespaceCondition,
  namespacesToRelease,
} from '../../rules/registration/managed-namespaces.ts';
import { setCondition } from '@berth/kube/model/condition-list';
import { sha256 } from '@berth/runtime/sha256';

interface NamespaceOptions {
  readonly cluster: KubeApi;
  readonly managed: ManagedCluster;
  /** The server of the bootstrap kubeconfig, unchanged. */
  readonly hubServer: string;
  /** RFC 3339, seconds. */
  readonly now: string;
}

/**
 * Creates the namespaces that the hub manages on the cluster, and marks with a label those that it no longer manages.
 * None is ever deleted.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/managedcluster/managed_namespace_reconcile.go`.
 * @returns the entries, each with its outcome
 */
export async function applyNamespaces(options: NamespaceOptions): Promise<readonly ManagedNamespaceStatus[]> {
  const { cluster, managed, hubServer, now } = options;
  const label = managedNamespaceLabel(sha256(hubServer));
  const isLeaving = managed.metadata.deletionTimestamp !== undefined;
  const wanted = isLeaving ? [] : (managed.status?.managedNamespaces ?? []);
  const { items } = await cluster.list(NAMESPACE, { labelSelector: `${label}=true` });
  const labelledNames = new Set(items.map(({ metadata }) => metadata.name));
  const entries: ManagedNamespaceStatus[] = [];
  for (const entry of wanted) {
    const problem = labelledNames.has(entry.name)
      ? undefined
      : await problemOf(() => ensureLabelled(cluster, entry.name, label));
    entries.push({
      ...entry,
      conditions: setCondition(entry.conditions ?? [], namespaceCondition(problem), now),
    });
  }
  for (const name of namespacesToRelease(wanted, items))
    await cluster.mergePatch(
      NAMESPACE,
      { namespace: '', name },
      { metadata: { labels: { [label]: 'false' } } },
    );
  return isLeaving ? (managed.status?.managedNamespaces ?? []) : entries;
}

async function ensureLabelled(cluster: KubeApi, name: string, label: string): Promise<void> {
  const key = { namespace: '', name };
  const labels = { [label]: 'true' };
  if ((await cluster.get(NAMESPACE, key)) === undefined)
    await cluster.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
  else await cluster.mergePatch(NAMESPACE, key, { metadata: { labels } });
}

async function problemOf(action: () => Promise<void>): Promise<string | undefined> {
  try {
    await action();
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}
