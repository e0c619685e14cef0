import type { KubeObject } from '@berth/kube/model/object-meta';
import type { WriteOptions } from '@berth/kube/model/kube-api';

/** Requests a response with metadata only, since the written object is large and known. */
export const METADATA_ONLY: WriteOptions = { fieldManager: 'berth', metadataOnly: true };

/**
 * The object after a write: the response, or if that has only metadata, the previous object with
 * the written parts.
 * @param written the complete parts that the write set
 */
export function objectAfterWrite(
  response: KubeObject,
  before: KubeObject,
  written: Readonly<Record<string, unknown>>,
): KubeObject {
  if (response.kind !== 'PartialObjectMetadata') return response;
  // Dropped as in the store: managedFields are not read, and are half of the size.
  const { managedFields: _dropped, ...metadata } = response.metadata;
  return { ...before, ...written, metadata };
}
