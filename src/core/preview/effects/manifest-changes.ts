import { compareText } from '@berth/runtime/text/compare-text';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { objectIdentity, type ObjectRef, refOf } from '@berth/kube/model/object-ref';
import { fieldChanges } from './field-changes.ts';
import type { ManifestChange } from './plan-effects.ts';

/** The manifests that are added, removed or changed between two lists, by kind and name. Their order does not count. */
export function manifestChanges(
  before: readonly unknown[],
  after: readonly unknown[],
): readonly ManifestChange[] {
  const [old, now] = [byIdentity(before), byIdentity(after)];
  const changes: ManifestChange[] = [];
  for (const [key, { ref, manifest }] of now) {
    const existing = old.get(key);
    if (existing === undefined) changes.push({ change: 'created', ref, fields: [] });
    else if (existing.manifest !== manifest) {
      const fields = fieldChanges(existing.manifest, manifest);
      if (fields.length > 0) changes.push({ change: 'changed', ref, fields });
    }
  }
  for (const [key, { ref }] of old) if (!now.has(key)) changes.push({ change: 'deleted', ref, fields: [] });
  return changes.sort((a, b) => compareText(objectIdentity(a.ref), objectIdentity(b.ref)));
}

interface Named {
  readonly ref: ObjectRef;
  readonly manifest: unknown;
}

function byIdentity(manifests: readonly unknown[]): Map<string, Named> {
  const named = manifests.filter(isObject).map((manifest) => {
    const ref = refOf(manifest);
    return [objectIdentity(ref), { ref, manifest }] as const;
  });
  return new Map(named);
}

/** An entry that is not an object is a problem of its file and not of the plan. */
function isObject(manifest: unknown): manifest is KubeObject {
  const { apiVersion, kind, metadata } = (manifest ?? {}) as Partial<KubeObject>;
  return typeof apiVersion === 'string' && typeof kind === 'string' && typeof metadata?.name === 'string';
}
