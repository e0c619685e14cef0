import { jsonEqual } from '@berth/runtime/json/json-equal';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { RegistrationSettings } from '../options/registration-settings.ts';

/**
 * Updates how other clients reach the cluster, after its address or authority changed. OCM's agent does so only if the
 * number of addresses changes. The agent may update its ManagedCluster, but not patch it.
 */
export async function updateClientConfigs(
  hub: KubeApi,
  managed: ManagedCluster,
  { clientConfigs }: RegistrationSettings,
): Promise<void> {
  if (clientConfigs.length === 0 || managed.metadata.deletionTimestamp !== undefined) return;
  if (jsonEqual(managed.spec?.managedClusterClientConfigs, clientConfigs)) return;
  // The watched object has no managed fields, but an update needs the complete object.
  const complete = await hub.get(MANAGED_CLUSTER, { namespace: '', name: managed.metadata.name });
  if (complete === undefined) return;
  const spec = { ...(complete['spec'] as object), managedClusterClientConfigs: clientConfigs };
  await hub.update(MANAGED_CLUSTER, { ...complete, spec } satisfies KubeObject);
}
