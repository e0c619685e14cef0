import type { AppliedResource } from '@berth/ocm/kind/applied-manifest-work';
import type { KindInfo } from '@berth/kube/model/kinds';

/**
 * The resources of `previous` that are not in `current`. Version and uid are ignored, so that a
 * resource with a changed version is never deleted.
 */
export function untrackedResources(
  previous: readonly AppliedResource[],
  current: readonly AppliedResource[],
): readonly AppliedResource[] {
  const kept = new Set(current.map(resourceKey));
  return previous.filter((resource) => !kept.has(resourceKey(resource)));
}

/** Whether the resource has existed on the cluster. A record without uid was only about to be created. */
export function wasRecorded({ uid = '' }: AppliedResource): boolean {
  return uid !== '';
}

/** Sorted by group, version, resource, namespace, name; each resource once (the first one wins). */
export function sortedResources(resources: readonly AppliedResource[]): readonly AppliedResource[] {
  const byKey = new Map<string, AppliedResource>();
  for (const resource of resources) {
    const key = JSON.stringify(sortFields(resource));
    if (!byKey.has(key)) byKey.set(key, resource);
  }
  return [...byKey.values()].sort(compareResources);
}

function resourceKey(resource: AppliedResource): string {
  return JSON.stringify([resource.group ?? '', resource.resource, resource.namespace ?? '', resource.name]);
}

function compareResources(a: AppliedResource, b: AppliedResource): number {
  const fields = sortFields(a);
  const others = sortFields(b);
  for (const [index, field] of fields.entries()) {
    const other = others[index] ?? '';
    if (field !== other) return field < other ? -1 : 1;
  }
  return 0;
}

function sortFields(resource: AppliedResource): readonly string[] {
  return [resource.group ?? '', resource.version, resource.resource, resource.namespace ?? '', resource.name];
}

/**
 * The kind of a recorded resource, complete enough to address it. The record has no kind name, so `kind` is the
 * plural.
 */
export function kindOfResource(resource: AppliedResource): KindInfo {
  return {
    group: resource.group ?? '',
    version: resource.version,
    kind: resource.resource,
    plural: resource.resource,
    namespaced: (resource.namespace ?? '') !== '',
  };
}
