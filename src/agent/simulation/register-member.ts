import { createIfAbsent } from '../../adapters/kube/create-if-absent.ts';
import { MANAGED_CLUSTER, NAMESPACE } from '../../core/model/kinds.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';
import type { KubeApi } from '../../core/ports.ts';
import { retryOnConflict } from '../../adapters/kube/retry-on-conflict.ts';

const MANAGER = 'berth-member';
const REGISTERED_BY_ANNOTATION = 'berth.dev/registered-by';

/** The used fields of a meta/v1 ManagedFieldsEntry. */
interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
}

/**
 * Registers a simulated cluster on the hub unless it exists: accepted, in the set `default`. These
 * are only defaults, so the registration does not keep ownership of the fields, and Git can declare
 * other values without force.
 */
export async function registerMember(hub: KubeApi, name: string): Promise<void> {
  await createIfAbsent(hub, NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const defaults: KubeObject = {
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata: {
      name,
      labels: { 'cluster.open-cluster-management.io/clusterset': 'default' },
      annotations: { [REGISTERED_BY_ANNOTATION]: MANAGER },
    },
    spec: { hubAcceptsClient: true, leaseDurationSeconds: 60 },
  };
  return retryOnConflict(async () => {
    const cluster =
      (await hub.get(MANAGED_CLUSTER, { namespace: '', name })) ??
      (await hub.create(MANAGED_CLUSTER, defaults, { fieldManager: MANAGER }));
    await releaseFields(hub, cluster);
  });
}

/**
 * The registration keeps only ownership of its annotation: without any managedFields entry, a
 * server would assign all fields to an owner.
 */
async function releaseFields(hub: KubeApi, { metadata }: KubeObject): Promise<void> {
  const entries = (metadata.managedFields ?? []) as readonly ManagedFields[];
  const kept = { 'f:metadata': { 'f:annotations': { [`f:${REGISTERED_BY_ANNOTATION}`]: {} } } };
  const next = entries.map((entry) =>
    entry.manager === MANAGER && entry.operation === 'Update' && (entry.subresource ?? '') === ''
      ? { ...entry, fieldsV1: kept }
      : entry,
  );
  if (JSON.stringify(next) === JSON.stringify(entries)) return;
  const { name, uid, resourceVersion } = metadata;
  const patch = { metadata: { uid, resourceVersion, managedFields: next } };
  await hub.mergePatch(MANAGED_CLUSTER, { namespace: '', name }, patch, { fieldManager: MANAGER });
}
