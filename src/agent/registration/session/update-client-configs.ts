import { jsonEqual } from '../../../core/model/json-equal.ts';
import { MANAGED_CLUSTER } from '../../../core/model/kinds.ts';
import type { ManagedCluster } from '../../../core/model/kind/managed-cluster.ts';
import type { KubeObject } from '../../../core/model/object-meta.ts';
import type { KubeApi } from '../../../core/ports.ts';
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
