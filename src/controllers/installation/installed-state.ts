import type { Condition, KubeObject } from '../../core/model/object-meta.ts';
import { DEPLOYMENT, MANAGED_CLUSTER_SET, NODE } from '../../core/model/kinds.ts';
import type { KubeApi } from '../../core/ports.ts';

/** Pods run where there are nodes: an API server alone, such as the embedded hub, has none. */
export async function nodeCount(api: KubeApi): Promise<number> {
  return (await api.list(NODE)).items.length;
}

/** OCM's operators manage the hub. */
export async function hasOcmOperator(api: KubeApi, kind: 'ClusterManager' | 'Klusterlet'): Promise<boolean> {
  return (await api.resolve('operator.open-cluster-management.io/v1', kind)) !== undefined;
}

/** Pods of a Deployment; undefined when there is no such Deployment. */
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

/** Controllers of registration have been at work: one of them keeps this set and counts its clusters. */
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
