import type { KubeObject } from '../../model/object-meta.ts';

type Kinded = Pick<KubeObject, 'apiVersion' | 'kind'>;

/** A kind as a source lists it: `GROUP/KIND`, `/KIND` for the core group, `GROUP/*`, or `*` for every kind. */
export const LISTED_KIND = /^(?:\*|[a-z0-9.-]*\/(?:\*|[A-Za-z0-9]+))$/;

const OCM_GROUP = /(?:^|\.)open-cluster-management\.io$/;

/**
 * Whether objects of a kind are applied to the hub: those of OCM, namespaces, and what the source lists. Everything else in a repository
 * is likely a manifest of a workload whose work was deleted or names another folder, and must not run on the hub by accident.
 */
export function appliedKinds(listed: readonly string[] = []): (object: Kinded) => boolean {
  if (listed.includes('*')) return () => true;
  const names = new Set(listed);
  return ({ apiVersion, kind }) => {
    const group = groupOf(apiVersion);
    if (OCM_GROUP.test(group) || (group === '' && kind === 'Namespace')) return true;
    return names.has(`${group}/${kind}`) || names.has(`${group}/*`);
  };
}

/** Those of a source's objects that are applied. @param kinds that the source lists; undefined: it is not known, and none counts */
export function appliedObjects<T extends { readonly object: Kinded }>(
  objects: readonly T[],
  kinds: readonly string[] | undefined,
): readonly T[] {
  const isApplied = appliedKinds(kinds);
  return objects.filter(({ object }) => isApplied(object));
}

/** As a source lists it: `apps/Deployment`. */
export function listedKind({ apiVersion, kind }: Kinded): string {
  return `${groupOf(apiVersion)}/${kind}`;
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
}
