import type { ManifestCondition, ManifestResourceMeta } from '@berth/ocm/kind/manifest-work';
import { setCondition } from '@berth/kube/model/condition-list';

/**
 * The status of manifests after an apply: in the order of the spec, with feedback, Available and
 * rule conditions of the same manifest kept. The same manifest is the one with the same resource at
 * the same index, otherwise the only one with the same resource. Manifests that were removed from
 * the spec are dropped.
 */
export function mergeManifestStatus(
  applied: readonly ManifestCondition[],
  before: readonly ManifestCondition[],
  now: string,
): readonly ManifestCondition[] {
  return applied.map((manifest) => {
    const known = findManifestCondition(before, manifest.resourceMeta);
    if (known === undefined)
      return {
        ...manifest,
        conditions: (manifest.conditions ?? []).map((condition) => ({
          ...condition,
          lastTransitionTime: now,
        })),
      };
    const conditions = (manifest.conditions ?? []).reduce((list, condition) => {
      const old = list.find(({ type }) => type === condition.type);
      // A new generation is a new attempt, so the time is updated even if the result is the same.
      const renewed = old !== undefined && old.observedGeneration !== condition.observedGeneration;
      return setCondition(list, renewed ? { ...condition, lastTransitionTime: now } : condition, now);
    }, known.conditions ?? []);
    return { ...known, resourceMeta: manifest.resourceMeta, conditions };
  });
}

export function findManifestCondition(
  manifests: readonly ManifestCondition[],
  meta: ManifestResourceMeta,
): ManifestCondition | undefined {
  const same = manifests.filter(({ resourceMeta }) => identity(resourceMeta) === identity(meta));
  return (
    same.find(({ resourceMeta }) => resourceMeta.ordinal === meta.ordinal) ??
    (same.length === 1 ? same[0] : undefined)
  );
}

function identity(meta: ManifestResourceMeta): string {
  const { group = '', version = '', kind = '', resource = '', namespace = '', name = '' } = meta;
  return JSON.stringify([group, version, kind, resource, namespace, name]);
}
