import type { KubeObject } from '../model/object-meta.ts';

/** managedFields are often half of an object, and Berth never reads them from a store. */
export function withoutManagedFields(object: KubeObject): KubeObject {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _dropped, ...metadata } = object.metadata;
  return { ...object, metadata };
}
