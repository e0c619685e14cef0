import { PLACEMENT_TEST } from '../../core/placement-test/placement-test.ts';
import { RULE_TEST } from '../../core/preview/rules/rule-test.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';
import { BUILTIN_RESOURCES } from '../../hub/scheme/builtin/builtin-resources.ts';
import { OCM_GROUPS } from '../../core/ocm/ocm-groups.ts';

type Kinded = Pick<KubeObject, 'apiVersion' | 'kind'>;

interface CustomResource {
  readonly group?: string;
  readonly scope?: string;
  readonly names?: { readonly kind?: string };
}

const ARGO_CD_KINDS = ['Application', 'ApplicationSet', 'AppProject'];

/**
 * Whether objects of a kind are namespaced, as far as this is known without a hub. Known are the kinds of Kubernetes,
 * OCM and Argo CD, and those that a CustomResourceDefinition among the objects defines. Undefined for all others.
 */
export function kindScopes(objects: readonly KubeObject[]): (object: Kinded) => boolean | undefined {
  const scopes = new Map<string, boolean>();
  for (const { group, kind, clusterScoped: cluster } of BUILTIN_RESOURCES)
    scopes.set(`${kind}.${group}`, cluster !== true);
  for (const [group, kinds] of Object.entries(OCM_GROUPS))
    for (const { kind, cluster } of kinds) scopes.set(`${kind}.${group}`, cluster !== true);
  for (const { kind, group, namespaced } of [PLACEMENT_TEST, RULE_TEST])
    scopes.set(`${kind}.${group}`, namespaced);
  for (const kind of ARGO_CD_KINDS) scopes.set(`${kind}.argoproj.io`, true);
  for (const object of objects) {
    if (object.kind !== 'CustomResourceDefinition') continue;
    const { group, scope, names } = (object['spec'] ?? {}) as CustomResource;
    scopes.set(`${names?.kind}.${group}`, scope === 'Namespaced');
  }
  return ({ apiVersion, kind }) =>
    scopes.get(`${kind}.${apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''}`);
}
