import { APPLIED_MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { KubeObject, ObjectMeta, OwnerReference } from '@berth/kube/model/object-meta';
import type { DeleteOption, ResourceIdentifier } from '@berth/ocm/kind/manifest-work';

/**
 * Label with the uid of the AppliedManifestWork that applied an object and has not added its owner
 * reference yet. Server-side apply cannot set the reference itself: it would belong to the field
 * manager, which all works share, and the next work that applies the object would remove it.
 * Without the label, an agent that is killed in between leaves an object whose owner is unknown. A
 * label and not an annotation, because Deployments and StatefulSets copy their annotations to the
 * objects that they create.
 */
export const OWNER_LABEL = 'berth.dev/claimed-by';

/**
 * Owned objects have an owner reference to the AppliedManifestWork and are deleted with the work;
 * others are orphaned.
 */
export function isOwned(deleteOption: DeleteOption | undefined, resource: ResourceIdentifier): boolean {
  switch (deleteOption?.propagationPolicy ?? 'Foreground') {
    case 'Foreground':
      return true;
    case 'Orphan':
      return false;
    case 'SelectivelyOrphan':
      return !(deleteOption?.selectivelyOrphans?.orphaningRules ?? []).some(
        (rule) =>
          (rule.group ?? '') === (resource.group ?? '') &&
          rule.resource === resource.resource &&
          rule.name === resource.name &&
          (rule.namespace ?? '') === (resource.namespace ?? ''),
      );
  }
}

export function appliedWorkOwner(name: string, uid: string): OwnerReference {
  return { apiVersion: `${APPLIED_MANIFEST_WORK.group}/v1`, kind: APPLIED_MANIFEST_WORK.kind, name, uid };
}

/** An owner reference to any AppliedManifestWork, whatever its version. */
export function isAppliedWorkOwner(owner: OwnerReference): boolean {
  return (
    owner.kind === APPLIED_MANIFEST_WORK.kind &&
    owner.apiVersion.split('/')[0] === APPLIED_MANIFEST_WORK.group
  );
}

/** Whether other works own the object, too. */
export function isShared({ ownerReferences = [] }: ObjectMeta, owner: Pick<OwnerReference, 'name'>): boolean {
  return ownerReferences.some((other) => isAppliedWorkOwner(other) && other.name !== owner.name);
}

/**
 * The owner references of an object after the agent took (`owned`) or gave up the object. References of others stay.
 * Matching is by group, kind and name, so that a re-created AppliedManifestWork with a new uid takes its old place.
 */
export function withOwner(
  owners: readonly OwnerReference[],
  owner: OwnerReference,
  owned: boolean,
): readonly OwnerReference[] {
  const same = (other: OwnerReference): boolean => isAppliedWorkOwner(other) && other.name === owner.name;
  if (!owned) return owners.filter((other) => !same(other));
  if (!owners.some(same)) return [...owners, owner];
  return owners.map((other) => (same(other) ? owner : other));
}

export function hasOwnerLabel({ labels }: ObjectMeta, { uid }: OwnerReference): boolean {
  return uid !== '' && labels?.[OWNER_LABEL] === uid;
}

export function withOwnerLabel(manifest: KubeObject, { uid }: OwnerReference): KubeObject {
  const labels = { ...manifest.metadata.labels, [OWNER_LABEL]: uid };
  return { ...manifest, metadata: { ...manifest.metadata, labels } };
}

/** Removes the label of any owner. An object needs no label if it has an owner reference or needs none. */
export function withoutOwnerLabel(labels: ObjectMeta['labels']): ObjectMeta['labels'] {
  // `null` is what Go clients write for no labels.
  if (labels?.[OWNER_LABEL] === undefined) return labels;
  const { [OWNER_LABEL]: _uid, ...rest } = labels;
  return rest;
}

/** Removes the owner label, as part of a merge patch of metadata. */
export function withoutLabelPatch({ labels }: ObjectMeta): {
  readonly labels?: Readonly<Record<string, null>>;
} {
  return labels?.[OWNER_LABEL] === undefined ? {} : { labels: { [OWNER_LABEL]: null } };
}

/** Field manager of everything the agent writes that is not applied under another name. */
export const AGENT_MANAGER = 'work-agent';
