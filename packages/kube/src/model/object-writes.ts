import { type KindInfo, NAMESPACE } from './kinds.ts';
import type { KubeObject } from './object-meta.ts';
import { sameRights } from './same-rights.ts';

/** An object as a controller wants it, and its kind. */
export interface DesiredObject {
  readonly kind: KindInfo;
  readonly object: KubeObject;
}

export type ObjectWrite =
  | { readonly do: 'create'; readonly kind: KindInfo; readonly object: KubeObject }
  /** A JSON merge patch. It applies only if the object has not changed since it was read. */
  | { readonly do: 'patch'; readonly kind: KindInfo; readonly object: KubeObject; readonly patch: object }
  | { readonly do: 'delete'; readonly kind: KindInfo; readonly object: KubeObject };

/** The writes that create or change the object to match the wanted one. None if it already does. */
export function writesToMatch(
  live: KubeObject | undefined,
  { kind, object }: DesiredObject,
): readonly ObjectWrite[] {
  if (live === undefined) return [{ do: 'create', kind, object }];
  // A deletion cannot be undone.
  if (isBeingDeleted(live)) return [];
  // The role of a binding cannot be changed.
  if (object['roleRef'] !== undefined && !sameRights({ ...live, subjects: object['subjects'] }, object))
    return [
      { do: 'delete', kind, object: live },
      { do: 'create', kind, object },
    ];
  const patch = {
    ...metadataPatch(live, object),
    ...(kind === NAMESPACE || sameRights(live, object)
      ? {}
      : { rules: object['rules'], subjects: object['subjects'] }),
  };
  return Object.keys(patch).length === 0 ? [] : [{ do: 'patch', kind, object: live, patch }];
}

/** Keeps labels, finalizers and owners of others. */
function metadataPatch(live: KubeObject, wanted: KubeObject): { readonly metadata?: object } {
  const labels = Object.entries(wanted.metadata.labels ?? {}).filter(
    ([key, value]) => live.metadata.labels?.[key] !== value,
  );
  const has = live.metadata.finalizers ?? [];
  const missing = (wanted.metadata.finalizers ?? []).filter((finalizer) => !has.includes(finalizer));
  const owners = live.metadata.ownerReferences ?? [];
  const newOwners = (wanted.metadata.ownerReferences ?? []).filter(
    ({ uid }) => !owners.some((owner) => owner.uid === uid),
  );
  if (labels.length + missing.length + newOwners.length === 0) return {};
  return {
    metadata: {
      ...(labels.length > 0 && { labels: Object.fromEntries(labels) }),
      ...(missing.length > 0 && { finalizers: [...has, ...missing] }),
      ...(newOwners.length > 0 && { ownerReferences: [...owners, ...newOwners] }),
    },
  };
}

export function isBeingDeleted({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}
