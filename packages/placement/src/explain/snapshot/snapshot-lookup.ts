import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { PLACEMENT_LABEL, type PlacementDecision } from '@berth/ocm/kind/placement-decision';
import type { Snapshot } from '../../snapshot/snapshot.ts';
import type { PlacementRef } from './snapshot-change.ts';
import { groupBy } from '@berth/runtime/lists/group-by';

/**
 * Lookups in the lists of a snapshot. The lists never change, so each is indexed once, and the
 * index lives as long as the list: a long-running process explains many pairs of one snapshot.
 */
export function findCluster(snapshot: Snapshot, name: string): ManagedCluster | undefined {
  return CLUSTERS(snapshot.clusters).get(name)?.at(-1);
}

/** The AddOnPlacementScores of a cluster. */
export function scoresOfCluster(snapshot: Snapshot, cluster: string): readonly AddOnPlacementScore[] {
  return SCORES(snapshot.scores).get(cluster) ?? [];
}

/** The previous decisions of one placement. */
export function decisionsOfPlacement(
  snapshot: Snapshot,
  { namespace, name }: PlacementRef,
): readonly PlacementDecision[] {
  return DECISIONS(snapshot.decisions).get(`${namespace}/${name}`) ?? [];
}

const CLUSTERS = grouped<ManagedCluster>(({ metadata }) => metadata.name);
const SCORES = grouped<AddOnPlacementScore>(({ metadata }) => metadata.namespace ?? '');
const DECISIONS = grouped<PlacementDecision>(
  ({ metadata }) => `${metadata.namespace ?? ''}/${metadata.labels?.[PLACEMENT_LABEL] ?? ''}`,
);

function grouped<T extends object>(keyOf: (item: T) => string) {
  const known = new WeakMap<readonly T[], ReadonlyMap<string, readonly T[]>>();
  return (list: readonly T[]): ReadonlyMap<string, readonly T[]> => {
    let groups = known.get(list);
    if (groups === undefined) {
      const made = groupBy(list, (item) => keyOf(item));
      groups = made;
      known.set(list, groups);
    }
    return groups;
  };
}
