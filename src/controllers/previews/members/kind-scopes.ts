import { groupVersionOf } from '@berth/kube/model/object-ref';
import { PLACEMENT_TEST } from '../../../core/placement-test/placement-test.ts';
import { RULE_TEST } from '../../../core/preview/rules/rule-test.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { SourceObject } from '@berth/kube/model/source-object';
import { oncePerList } from '@berth/runtime/lists/once-per-list';
import { BUILTIN_KINDS } from '@berth/kube/model/kinds';
import { OCM_GROUPS } from '@berth/ocm/definition/ocm-groups';

/** An object, or a kind in one version. */
type Kinded = Pick<KubeObject, 'apiVersion' | 'kind'>;

type Declared = readonly Pick<SourceObject, 'object'>[];

interface CustomResource {
  readonly group?: string;
  readonly scope?: string;
  readonly names?: { readonly kind?: string };
}

const ARGO_CD_KINDS = ['Application', 'ApplicationSet', 'AppProject'];

/**
 * Whether objects of a kind are namespaced, as far as this is known without a hub. Known are the kinds of Kubernetes,
 * OCM and Argo CD, and those that a CustomResourceDefinition in the lists defines. Undefined for all others.
 */
export function kindScopes(...lists: readonly Declared[]): (object: Kinded) => boolean | undefined {
  const scopes = new Map<string, boolean>();
  for (const { kind, group, namespaced } of [...BUILTIN_KINDS, PLACEMENT_TEST, RULE_TEST])
    scopes.set(`${kind}.${group}`, namespaced);
  for (const [group, kinds] of Object.entries(OCM_GROUPS))
    for (const { kind, cluster } of kinds) scopes.set(`${kind}.${group}`, cluster !== true);
  for (const kind of ARGO_CD_KINDS) scopes.set(`${kind}.argoproj.io`, true);
  for (const [kind, namespaced] of lists.flatMap(definedKinds)) scopes.set(kind, namespaced);
  return (object) => scopes.get(groupKind(object));
}

/**
 * Whether the hub need not serve a kind before the merge: a CustomResourceDefinition among the
 * objects defines it, or objects of the kind are never applied to a hub.
 */
export function kindsWithoutHub(objects: Declared): (object: Kinded) => boolean {
  const kinds = new Set(definedKinds(objects).map(([kind]) => kind));
  for (const { kind, group } of [PLACEMENT_TEST, RULE_TEST]) kinds.add(`${kind}.${group}`);
  return (object) => kinds.has(groupKind(object));
}

/** `KIND.GROUP` of the CustomResourceDefinitions, and whether its objects are in namespaces. */
const definedKinds = oncePerList((objects: Declared): readonly (readonly [string, boolean])[] =>
  objects
    .filter(({ object }) => object.kind === 'CustomResourceDefinition')
    .map(({ object }) => {
      const { group, scope, names } = (object['spec'] ?? {}) as CustomResource;
      return [`${names?.kind}.${group}`, scope === 'Namespaced'];
    }),
);

function groupKind({ apiVersion, kind }: Kinded): string {
  return `${kind}.${groupVersionOf(apiVersion).group}`;
}
