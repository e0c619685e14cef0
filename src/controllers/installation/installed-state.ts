import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { DEPLOYMENT, LEASE, MANAGED_CLUSTER_SET, NODE } from '@berth/kube/model/kinds';
import type { KubeApi, ServerEndpoints } from '@berth/kube/model/kube-api';
import { isEmbeddedVersion } from '../../core/registration/install/embedded-version.ts';
import { serverVersion } from '@berth/kube/probe-server';
import {
  type ActiveController,
  activeControllers,
  LEASE_NAMESPACES,
} from '../../core/registration/install/active-controllers.ts';

/**
 * Whether pods run on the cluster: it has nodes, and is no embedded hub or member. Those may hold Node objects, but
 * nothing behind them; a Deployment there would be one that nobody runs.
 */
export async function runsPods(api: KubeApi & ServerEndpoints): Promise<boolean> {
  return (await nodeCount(api)) > 0 && !isEmbeddedVersion((await serverVersion(api)) ?? '');
}

export async function nodeCount(api: KubeApi): Promise<number> {
  return (await api.list(NODE)).items.length;
}

/** Whether an OCM operator manages the hub or the cluster. */
export async function hasOcmOperator(api: KubeApi, kind: 'ClusterManager' | 'Klusterlet'): Promise<boolean> {
  return (await api.resolve('operator.open-cluster-management.io/v1', kind)) !== undefined;
}

/** Controllers of other programs that hold a Lease on the hub. */
export async function findOtherControllers(
  api: KubeApi,
  nowMs: number,
): Promise<readonly ActiveController[]> {
  const lists = await Promise.all(LEASE_NAMESPACES.map((namespace) => api.list(LEASE, { namespace })));
  return activeControllers(
    lists.flatMap(({ items }) => items),
    nowMs,
  );
}

/** The Pods of a Deployment; undefined if it does not exist. */
export async function podsOf(
  api: KubeApi,
  key: { readonly namespace: string; readonly name: string },
): Promise<{ readonly available: number; readonly wanted: number; readonly image: string } | undefined> {
  const found = (await api.get(DEPLOYMENT, key)) as DeploymentObject | undefined;
  if (found === undefined) return undefined;
  const isSeen = found.status?.observedGeneration === found.metadata.generation;
  return {
    available: isSeen ? (found.status?.availableReplicas ?? 0) : 0,
    wanted: found.spec?.replicas ?? 1,
    image: found.spec?.template?.spec?.containers?.[0]?.image ?? '',
  };
}

const FIRST_SET = 'default';

/** Whether registration controllers have run: one of them keeps this set and counts its clusters. */
export async function areSetsKept(api: KubeApi): Promise<boolean> {
  const set = await api.get(MANAGED_CLUSTER_SET, { namespace: '', name: FIRST_SET });
  const status = set?.['status'] as { readonly conditions?: readonly Condition[] } | undefined;
  return (status?.conditions ?? []).length > 0;
}

type DeploymentObject = KubeObject & {
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: { readonly spec?: { readonly containers?: readonly { readonly image?: string }[] } };
  };
  readonly status?: { readonly observedGeneration?: number; readonly availableReplicas?: number };
};
