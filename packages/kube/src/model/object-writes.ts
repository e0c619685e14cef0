import { jsonEqual } from '@berth/runtime/json/json-equal';
import { type KindInfo, NAMESPACE } from './kinds.ts';
import type { KubeObject } from './object-meta.ts';

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

/** A rule of a Role or a ClusterRole. */
interface PolicyRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/**
 * Whether two roles or bindings grant the same rights, regardless of the order of lists and the split into rules. Another
 * controller may write the same rights in another form. If the forms were compared, both controllers would overwrite each
 * other.
 */
export function sameRights(left: KubeObject, right: KubeObject): boolean {
  return jsonEqual(rightsOf(left), rightsOf(right));
}

function rightsOf(object: KubeObject): unknown {
  return {
    grants: grantsOf(object['rules']),
    subjects: subjectsOf(object['subjects']),
    to: object['roleRef'],
  };
}

/** One text for each combination of group, resource, name and verb. */
function grantsOf(rules: unknown): readonly string[] {
  const all = (Array.isArray(rules) ? rules : []) as readonly PolicyRule[];
  const grants = all.flatMap(
    ({ apiGroups = [], resources = [], resourceNames = [], verbs, nonResourceURLs = [] }) =>
      verbs.flatMap((verb) => [
        ...nonResourceURLs.map((url) => JSON.stringify([verb, url])),
        ...apiGroups.flatMap((group) =>
          resources.flatMap((resource) =>
            // No name means every name.
            (resourceNames.length === 0 ? [null] : resourceNames).map((name) =>
              JSON.stringify([verb, group, resource, name]),
            ),
          ),
        ),
      ]),
  );
  return [...new Set(grants)].sort();
}

function subjectsOf(subjects: unknown): readonly string[] {
  const all = (Array.isArray(subjects) ? subjects : []) as readonly {
    readonly kind?: string;
    readonly name?: string;
    readonly namespace?: string;
  }[];
  return all.map(({ kind, name, namespace }) => JSON.stringify([kind, namespace ?? '', name])).sort();
}
