import type { KubeObject } from '../../core/model/object-meta.ts';
import type { WriteOptions } from '../../core/ports.ts';

/** The written object is large and known, so the answer need not contain it. */
export const METADATA_ONLY: WriteOptions = { fieldManager: 'berth', metadataOnly: true };

/**
 * The object after a write: the answer, or if that has only metadata, the object before with the written parts.
 * @param written the parts of the object that the write set, whole
 */
export function objectAfterWrite(
  answer: KubeObject,
  before: KubeObject,
  written: Readonly<Record<string, unknown>>,
): KubeObject {
  if (answer.kind !== 'PartialObjectMetadata') return answer;
  // As in the store: nobody reads them, and they are the larger half.
  const { managedFields: _dropped, ...metadata } = answer.metadata;
  return { ...before, ...written, metadata };
}
