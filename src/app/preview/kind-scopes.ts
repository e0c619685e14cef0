import { OCM_KINDS } from '../../core/model/kinds.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';
import { BUILTIN_RESOURCES } from '../../hub/scheme/builtin/builtin-resources.ts';

type Kinded = Pick<KubeObject, 'apiVersion' | 'kind'>;

interface CustomResource {
  readonly group?: string;
  readonly scope?: string;
  readonly names?: { readonly kind?: string };
}

/**
 * Whether objects of a kind are in namespaces, as far as that can be told without a hub: Kubernetes' kinds, OCM's, and those that a
 * CustomResourceDefinition among the objects defines. Undefined for all others.
 */
export function kindScopes(objects: readonly KubeObject[]): (object: Kinded) => boolean | undefined {
  const scopes = new Map<string, boolean>();
  for (const { group, kind, cluster } of BUILTIN_RESOURCES) scopes.set(`${kind}.${group}`, cluster !== true);
  for (const { group, kind, namespaced } of OCM_KINDS) scopes.set(`${kind}.${group}`, namespaced);
  for (const object of objects) {
    if (object.kind !== 'CustomResourceDefinition') continue;
    const { group, scope, names } = (object['spec'] ?? {}) as CustomResource;
    scopes.set(`${names?.kind}.${group}`, scope === 'Namespaced');
  }
  return ({ apiVersion, kind }) =>
    scopes.get(`${kind}.${apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''}`);
}
