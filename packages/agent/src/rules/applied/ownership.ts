import { APPLIED_MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { DeleteOption, ResourceIdentifier } from '@berth/ocm/kind/manifest-work';
import type { ObjectMeta, OwnerReference } from '@berth/kube/model/object-meta';

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
 * The owner references of an object after the agent claimed (`owned`) or released it. References of others stay.
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
