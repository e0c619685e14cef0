import type { KubeObject } from '../../core/model/object-meta.ts';
import type { WriteOptions } from '../../core/ports.ts';

/** The written object is large and already known, so the answer need not contain it. */
export const METADATA_ONLY: WriteOptions = { fieldManager: 'berth', metadataOnly: true };

/**
 * The object after a write: the answer, or, if the answer has only metadata, the earlier object with the written parts.
 * @param written the parts of the object that the write set completely
 */
export function objectAfterWrite(
  answer: KubeObject,
  before: KubeObject,
  written: Readonly<Record<string, unknown>>,
): KubeObject {
  if (answer.kind !== 'PartialObjectMetadata') return answer;
  // The store drops them, too: nothing reads them, and they are the larger half of the object.
  const { managedFields: _dropped, ...metadata } = answer.metadata;
  return { ...before, ...written, metadata };
}
