import type { KubeObject, ObjectMeta, OwnerReference } from '@berth/kube/model/object-meta';

/**
 * Label with the uid of the AppliedManifestWork that applied an object and has not added its owner
 * reference yet. Server-side apply cannot set the reference itself: it would belong to the field
 * manager, which all works share, and the next work that applies the object would remove it.
 * Without the claim, an agent that is killed in between leaves an object whose owner is unknown. A
 * label and not an annotation, because Deployments and StatefulSets copy their annotations to the
 * objects that they create.
 */
export const CLAIM_LABEL = 'berth.dev/claimed-by';

export function isClaimedBy({ labels }: ObjectMeta, { uid }: OwnerReference): boolean {
  return uid !== '' && labels?.[CLAIM_LABEL] === uid;
}

export function withClaim(manifest: KubeObject, { uid }: OwnerReference): KubeObject {
  const labels = { ...manifest.metadata.labels, [CLAIM_LABEL]: uid };
  return { ...manifest, metadata: { ...manifest.metadata, labels } };
}

/** Removes the claim of any owner. An object needs no claim if it has an owner reference or needs none. */
export function withoutClaim(labels: ObjectMeta['labels']): ObjectMeta['labels'] {
  // `null` is what Go clients write for no labels.
  if (labels?.[CLAIM_LABEL] === undefined) return labels;
  const { [CLAIM_LABEL]: _claim, ...rest } = labels;
  return rest;
}

/** Removes the claim, as part of a merge patch of metadata. */
export function unclaimPatch({ labels }: ObjectMeta): { readonly labels?: Readonly<Record<string, null>> } {
  return labels?.[CLAIM_LABEL] === undefined ? {} : { labels: { [CLAIM_LABEL]: null } };
}
