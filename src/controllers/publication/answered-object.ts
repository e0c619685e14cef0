import type { KubeObject } from '../../core/model/object-meta.ts';
import type { WriteOptions } from '../../core/ports.ts';

/** What was written is large and known: an answer need not bring it back to be parsed. */
export const METADATA_ANSWER: WriteOptions = { fieldManager: 'berth', metadataOnly: true };

/**
 * The object after a write: the answer, or where that has only metadata, what was there with what was written.
 * @param written the parts of the object that the write set, whole
 */
export function answeredObject(
  answer: KubeObject,
  before: KubeObject,
  written: Readonly<Record<string, unknown>>,
): KubeObject {
  if (answer.kind !== 'PartialObjectMetadata') return answer;
  // As in the store: nobody reads them, and they are the larger half.
  const { managedFields: _dropped, ...metadata } = answer.metadata;
  return { ...before, ...written, metadata };
}
