import type { KubeObject } from '@berth/kube/model/object-meta';

/** Sets the namespace as kubectl does: a namespaced object without one gets `default`, a cluster-scoped one gets none. */
export function placeObject(
  object: KubeObject,
  { namespaced }: { readonly namespaced: boolean },
): KubeObject {
  if (namespaced)
    return object.metadata.namespace === undefined
      ? { ...object, metadata: { ...object.metadata, namespace: 'default' } }
      : object;
  // Most objects need no change. Returning the same object lets callers recognize it.
  if (object.metadata.namespace === undefined) return object;
  const { namespace: _namespace, ...metadata } = object.metadata;
  return { ...object, metadata };
}
