import type { KubeObject } from '../model/object-meta.ts';

/** As kubectl does: `default` when a namespaced object names no namespace, none for a cluster-scoped one. */
export function placeObject(
  object: KubeObject,
  { namespaced }: { readonly namespaced: boolean },
): KubeObject {
  if (namespaced)
    return object.metadata.namespace === undefined
      ? { ...object, metadata: { ...object.metadata, namespace: 'default' } }
      : object;
  // Most objects are in place already, and the same object is known again.
  if (object.metadata.namespace === undefined) return object;
  const { namespace: _namespace, ...metadata } = object.metadata;
  return { ...object, metadata };
}
