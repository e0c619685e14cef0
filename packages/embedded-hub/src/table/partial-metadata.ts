import type { JsonObject } from '../json/json-value.ts';
import { objectAt } from '../json/json-value.ts';

const API_VERSION = 'meta.k8s.io/v1';

/** An object as metadata alone. */
export function partialMetadata(object: JsonObject): JsonObject {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: API_VERSION,
    metadata: objectAt(object, 'metadata') ?? {},
  };
}

export function partialMetadataList(items: readonly JsonObject[], listMeta: JsonObject): JsonObject {
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion: API_VERSION,
    metadata: listMeta,
    items: items.map(partialMetadata),
  };
}
