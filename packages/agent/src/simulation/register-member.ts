import { createIfAbsent } from '@berth/kube/create-if-absent';
import { type KindInfo, MANAGED_CLUSTER, MANAGED_CLUSTER_SET, NAMESPACE } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { DEFAULT_SETS, planDefaultSet } from '@berth/ocm/registration/default-sets';
import { retryOnConflict } from '@berth/kube/retry-on-conflict';

const MANAGER = 'berth-member';
const REGISTERED_BY_ANNOTATION = 'berth.dev/registered-by';

/** The used fields of a meta/v1 ManagedFieldsEntry. */
interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
}

/** Registers a simulated cluster on the hub unless it exists: accepted, in the set `default`. */
export async function registerMember(hub: KubeApi, name: string): Promise<void> {
  await createIfAbsent(hub, NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await createReleased(hub, MANAGED_CLUSTER, {
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata: { name, labels: { 'cluster.open-cluster-management.io/clusterset': 'default' } },
    spec: { hubAcceptsClient: true, leaseDurationSeconds: 60 },
  });
}

/** Creates the sets that every hub of OCM has, unless they exist. */
export async function registerDefaultSets(hub: KubeApi): Promise<void> {
  for (const name of DEFAULT_SETS.keys()) {
    const plan = planDefaultSet(name, undefined);
    if (plan?.kind === 'create')
      await createReleased(hub, MANAGED_CLUSTER_SET, plan.set as unknown as KubeObject);
  }
}

/**
 * Creates an object without a namespace unless it exists. Its fields are only defaults, so the
 * registration does not keep ownership of them, and Git can declare other values without force.
 */
async function createReleased(hub: KubeApi, kind: KindInfo, defaults: KubeObject): Promise<void> {
  const { metadata } = defaults;
  const marked = {
    ...defaults,
    metadata: { ...metadata, annotations: { [REGISTERED_BY_ANNOTATION]: MANAGER } },
  };
  return retryOnConflict(async () => {
    const object =
      (await hub.get(kind, { namespace: '', name: metadata.name })) ??
      (await hub.create(kind, marked, { fieldManager: MANAGER }));
    await releaseFields(hub, kind, object);
  });
}

/**
 * The registration keeps only ownership of its annotation: without any managedFields entry, a
 * server would assign all fields to an owner.
 */
async function releaseFields(hub: KubeApi, kind: KindInfo, { metadata }: KubeObject): Promise<void> {
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
  await hub.mergePatch(kind, { namespace: '', name }, patch, { fieldManager: MANAGER });
}
