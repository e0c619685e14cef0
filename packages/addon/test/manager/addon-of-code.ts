import {
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  type KindInfo,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';

export const HELLO = { namespace: 'cluster1', name: 'hello' };

export function make(api: KubeApi, kind: KindInfo, content: object): Promise<KubeObject> {
  const typed = { apiVersion: apiVersionOf(kind), kind: kind.kind, ...content };
  return api.create(kind, typed as unknown as KubeObject);
}

/** The add-on `hello`, on the clusters with these names. */
export async function install(hub: KubeApi, clusters: readonly string[] = ['cluster1']): Promise<void> {
  await make(hub, CLUSTER_MANAGEMENT_ADDON, { metadata: { name: 'hello' }, spec: {} });
  for (const namespace of clusters)
    await make(hub, MANAGED_CLUSTER_ADDON, {
      metadata: { namespace, name: 'hello' },
      spec: { installNamespace: 'default' },
    });
}

export function configMap(value: string, namespace = 'default'): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'hello' }, data: { value } };
}

/** `True ProbeAvailable: hello add-on is available.`; undefined: there is no such condition. */
export async function conditionOf(hub: KubeApi, type: string, of = HELLO): Promise<string | undefined> {
  const addon = await hub.get(MANAGED_CLUSTER_ADDON, of);
  const { conditions = [] } = (addon?.['status'] ?? {}) as { readonly conditions?: readonly Condition[] };
  const found = conditions.find((one) => one.type === type);
  return found && `${found.status} ${found.reason}: ${found.message}`;
}

/** The value of the ConfigMap in the work of the add-on, and how often the work was written. */
export async function workOf(
  hub: KubeApi,
): Promise<{ readonly value: string; readonly generation: number } | undefined> {
  const work = await hub.get(MANIFEST_WORK, { namespace: 'cluster1', name: 'addon-hello-deploy-0' });
  if (work === undefined) return undefined;
  const { workload } = work['spec'] as { readonly workload: { readonly manifests: readonly KubeObject[] } };
  const { value = '' } = (workload.manifests[0]?.['data'] ?? {}) as { readonly value?: string };
  return { value, generation: work.metadata.generation ?? 0 };
}
