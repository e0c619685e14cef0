import type { KubeObject, ObjectMeta, OwnerReference } from '../../model/object-meta.ts';

/**
 * The uid of the AppliedManifestWork that applied an object and has not put its owner reference on it yet.
 * Server-side apply cannot carry the reference itself: it would belong to the field manager, which all works share,
 * and the next work to apply the object would take it away. Without the claim an agent that dies in between leaves an
 * object that nobody can prove to be its own.
 *
 * A label and no annotation, because Deployments and StatefulSets copy their annotations to what they create,
 * permanently.
 */
export const CLAIM_LABEL = 'berth.dev/claimed-by';

export function isClaimedBy({ labels }: ObjectMeta, { uid }: OwnerReference): boolean {
  return uid !== '' && labels?.[CLAIM_LABEL] === uid;
}

export function withClaim(manifest: KubeObject, { uid }: OwnerReference): KubeObject {
  const labels = { ...manifest.metadata.labels, [CLAIM_LABEL]: uid };
  return { ...manifest, metadata: { ...manifest.metadata, labels } };
}

/** Of any owner: an object with an owner reference, or one that needs none, needs no claim. */
export function withoutClaim(labels: ObjectMeta['labels']): ObjectMeta['labels'] {
  // `null` is what Go clients write for no labels.
  if (labels?.[CLAIM_LABEL] === undefined) return labels;
  const { [CLAIM_LABEL]: _claim, ...rest } = labels;
  return rest;
}

/** The claim's end, as part of a merge patch of metadata. */
export function unclaimPatch({ labels }: ObjectMeta): { readonly labels?: Readonly<Record<string, null>> } {
  return labels?.[CLAIM_LABEL] === undefined ? {} : { labels: { [CLAIM_LABEL]: null } };
}
