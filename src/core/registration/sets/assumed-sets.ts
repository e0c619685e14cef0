import type { ManagedClusterSet } from '@berth/ocm/kind/managed-cluster-set';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { DEFAULT_SETS, planDefaultSet, inDefaultSet } from '@berth/ocm/registration/default-sets';

/** One object for each set, since decisions are made again when an object changes. */
const SETS: readonly ManagedClusterSet[] = [...DEFAULT_SETS.keys()].flatMap((name) => {
  const plan = planDefaultSet(name, undefined);
  return plan?.kind === 'create' ? [plan.set] : [];
});

/**
 * Adds to a snapshot that was read without a hub what every hub of OCM has by itself: the default sets that are not
 * declared, and the label of the set `default` on each cluster that names no set.
 */
export function withAssumedSets(snapshot: Snapshot): Snapshot {
  const declared = declaredSets(snapshot);
  const missing = SETS.filter(({ metadata }) => !declared.has(metadata.name));
  return {
    ...snapshot,
    clusterSets: missing.length === 0 ? snapshot.clusterSets : [...snapshot.clusterSets, ...missing],
    clusters: snapshot.clusters.map(inDefaultSet),
  };
}

const MEMBERS: Readonly<Record<string, string>> = {
  default: 'the clusters that name no other set',
  global: 'every cluster',
};

/**
 * What a result without a hub rests on, one sentence for each set that is bound and not declared.
 * @param declared the snapshot of the declared objects, without assumed sets
 */
export function assumedSetNotes(declared: Snapshot): readonly string[] {
  const known = declaredSets(declared);
  const bound = new Set(declared.bindings.map(({ spec }) => spec?.clusterSet ?? ''));
  return [...bound]
    .filter((name) => name !== '' && !known.has(name))
    .sort()
    .map((name) =>
      DEFAULT_SETS.has(name)
        ? `ManagedClusterSet ${name} is bound and not declared here: it counts as OCM makes it on every hub, with ${MEMBERS[name]}.`
        : `ManagedClusterSet ${name} is bound and not declared here: without a hub it counts as absent, and selects nothing.`,
    );
}

function declaredSets({ clusterSets }: Snapshot): ReadonlySet<string> {
  return new Set(clusterSets.map(({ metadata }) => metadata.name));
}
