import type { KubeObject } from '@berth/kube/model/object-meta';
import { canonicalJson, jsonEqual } from '@berth/runtime/json/json-equal';
import { objectContent, planContent } from './merge-content.ts';
import { mergeMetadata, metadataToCreate, type Ownership } from './merge-metadata.ts';

/** The plan of the Update strategy for an existing object. */
export type UpdatePlan =
  | { readonly action: 'none' }
  | { readonly action: 'update'; readonly object: KubeObject; readonly recreateWhenInvalid: boolean }
  | { readonly action: 'recreate'; readonly object: KubeObject };

/** Digest of a text, hex; passed in because the core has no crypto. */
export type Digest = (text: string) => string;

/**
 * Builds the wanted object (live metadata merged with the manifest's, content by the rule of its
 * kind) and writes it only if it differs. Server-side defaults usually make it differ, so the
 * caller caches the result of its last write of the same manifest.
 */
export function planUpdate(
  live: KubeObject,
  manifest: KubeObject,
  ownership: Ownership,
  digest: Digest,
): UpdatePlan {
  const wanted = withSpecHash(manifest, digest);
  const plan = planContent(live, wanted);
  if (plan.recreate === true)
    return { action: 'recreate', object: objectToCreate(manifest, ownership, digest) };
  const metadata = mergeMetadata(live.metadata, wanted.metadata, ownership);
  if (sameMetadata(live, metadata) && jsonEqual(objectContent(live), plan.content)) return { action: 'none' };
  const object = { ...plan.content, apiVersion: manifest.apiVersion, kind: manifest.kind, metadata };
  return { action: 'update', object, recreateWhenInvalid: plan.recreateWhenInvalid ?? false };
}

export function objectToCreate(manifest: KubeObject, ownership: Ownership, digest: Digest): KubeObject {
  const wanted = withSpecHash(manifest, digest);
  return { ...wanted, metadata: metadataToCreate(wanted.metadata, ownership) };
}

/**
 * OCM's agent adds this to Services; kept, so that the agents can replace each other without a
 * write.
 */
function withSpecHash(manifest: KubeObject, digest: Digest): KubeObject {
  if (manifest.kind !== 'Service' || manifest.apiVersion !== 'v1') return manifest;
  const annotations = {
    ...manifest.metadata.annotations,
    'operator.openshift.io/spec-hash': digest(canonicalJson(manifest['spec'] ?? {})),
  };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
}

/** Whether all metadata that the Update strategy may change is the same. */
export function sameMetadata(live: KubeObject, metadata: KubeObject['metadata']): boolean {
  return (
    jsonEqual(live.metadata.labels ?? {}, metadata.labels ?? {}) &&
    jsonEqual(live.metadata.annotations ?? {}, metadata.annotations ?? {}) &&
    jsonEqual(live.metadata.ownerReferences ?? [], metadata.ownerReferences ?? [])
  );
}
