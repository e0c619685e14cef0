import type { JsonObject } from '../json/json-value.ts';
import { objectAt, textAt } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { forbidden, notFound } from '../wire/status-errors.ts';
import type { Cluster } from '../request/cluster.ts';

/**
 * Requires that the namespace of a new object exists and is not being deleted.
 * @throws StatusError 404, or 403 with the cause NamespaceTerminating
 */
export function requireLiveNamespace(
  cluster: Cluster,
  ref: ResourceRef,
  target: { readonly namespace: string; readonly name: string },
): void {
  const { definition } = ref;
  if (!definition.namespaced) return;
  const { namespace, name } = target;
  if (namespaceOf(cluster, namespace) === undefined)
    throw notFound({ group: '', plural: 'namespaces' }, namespace);
  if (!isNamespaceEnding(cluster, namespace)) return;
  throw forbidden(
    definition,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}

/** Whether the namespace exists and is being deleted. */
export function isNamespaceEnding(cluster: Cluster, namespace: string): boolean {
  return textAt(objectAt(namespaceOf(cluster, namespace), 'metadata'), 'deletionTimestamp') !== '';
}

function namespaceOf(cluster: Cluster, name: string): JsonObject | undefined {
  return cluster.store.get({ storage: 'namespaces', namespace: '', name })?.object;
}
