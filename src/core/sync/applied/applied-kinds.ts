import { groupVersionOf } from '@berth/kube/model/object-ref';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { oncePerList } from '@berth/runtime/lists/once-per-list';

type Kinded = Pick<KubeObject, 'apiVersion' | 'kind'>;

/** A kind as a source lists it: `GROUP/KIND`, `/KIND` for the core group, `GROUP/*`, or `*` for every kind. */
export const LISTED_KIND = /^(?:\*|[a-z0-9.-]*\/(?:\*|[A-Za-z0-9]+))$/;

const OCM_GROUP = /(?:^|\.)open-cluster-management\.io$/;

/**
 * Whether objects of a kind are applied to the hub: those of OCM, namespaces, and the kinds that
 * the source lists. Any other object is probably a workload manifest whose work was deleted or
 * names another folder, and must not be applied to the hub by accident.
 */
export function appliedKinds(listed: readonly string[] = []): (object: Kinded) => boolean {
  if (listed.includes('*')) return () => true;
  const names = new Set(listed);
  const isApplied = ({ apiVersion, kind }: Kinded): boolean => {
    const group = groupVersionOf(apiVersion).group;
    if (OCM_GROUP.test(group) || (group === '' && kind === 'Namespace')) return true;
    return names.has(`${group}/${kind}`) || names.has(`${group}/*`);
  };
  // A source has thousands of objects of a few kinds.
  const known = new Map<string, Map<string, boolean>>();
  return (object) => {
    const { apiVersion, kind } = object;
    let kinds = known.get(apiVersion);
    if (kinds === undefined) known.set(apiVersion, (kinds = new Map<string, boolean>()));
    let applied = kinds.get(kind);
    if (applied === undefined) kinds.set(kind, (applied = isApplied(object)));
    return applied;
  };
}

/**
 * The objects of a source that are applied.
 * @param kinds the kinds that the source lists; undefined: unknown, treated as none
 */
export function appliedObjects<T extends { readonly object: Kinded }>(
  objects: readonly T[],
  kinds: readonly string[] | undefined,
): readonly T[] {
  const known = appliedByKinds(objects);
  const key = JSON.stringify(kinds ?? null);
  let applied = known.get(key) as readonly T[] | undefined;
  if (applied === undefined) {
    const isApplied = appliedKinds(kinds);
    applied = objects.filter(({ object }) => isApplied(object));
    known.set(key, applied);
  }
  return applied;
}

/** The results for each list, by the listed kinds. A plan needs the same ones several times. */
const appliedByKinds = oncePerList(() => new Map<string, readonly unknown[]>());

/** As a source lists it: `apps/Deployment`. */
export function listedKind({ apiVersion, kind }: Kinded): string {
  return `${groupVersionOf(apiVersion).group}/${kind}`;
}
