import type { KubeObject } from '@berth/kube/model/object-meta';

export interface RbacRule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

/** A role; or a binding, a namespace or an account (without rules). */
export type RbacObject = KubeObject & { rules?: RbacRule[] };

/** Every right of the rules: `verb resource[/subresource]`. */
export function rightsOf(rules: readonly RbacRule[]): readonly string[] {
  return rules.flatMap(({ resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
  );
}

/** The object with one rule for each right, without the missing one. */
export function withoutRight(object: RbacObject, missing: string | undefined): RbacObject {
  const rules = object.rules?.flatMap((rule) =>
    rule.resources.flatMap((resource) =>
      rule.verbs
        .filter((verb) => `${verb} ${resource}` !== missing)
        .map((verb) => ({ ...rule, resources: [resource], verbs: [verb] })),
    ),
  );
  return { ...object, ...(rules && { rules }) };
}

/** Where objects of its kind are made: the path of its collection. */
export function rbacPath({ kind, metadata: { namespace } }: RbacObject): string {
  const where = namespace === undefined ? '' : `namespaces/${namespace}/`;
  const root = kind.includes('Role') ? '/apis/rbac.authorization.k8s.io/v1' : '/api/v1';
  return `${root}/${where}${kind.toLowerCase()}s`;
}
