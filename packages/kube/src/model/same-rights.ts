import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { KubeObject } from './object-meta.ts';

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
