import type { AddOnPlacementScore } from '../../model/kind/addon-placement-score.ts';
import type { ManagedCluster } from '../../model/kind/managed-cluster.ts';
import type { PlacementDecision } from '../../model/kind/placement-decision.ts';
import { PLACEMENT_LABEL } from '../../model/kind/placement-decision.ts';
import type { World } from '../../snapshot/world.ts';
import type { PlacementRef } from './world-change.ts';

/**
 * Looking things up in the lists of a world. The lists of a world never change, so each is indexed once and the index
 * lives as long as the list: a long-lived process explains many pairs of one world.
 */
export function clusterNamed(world: World, name: string): ManagedCluster | undefined {
  return CLUSTERS(world.clusters).get(name)?.at(-1);
}

/** The AddOnPlacementScores of a cluster. */
export function scoresOfCluster(world: World, cluster: string): readonly AddOnPlacementScore[] {
  return SCORES(world.scores).get(cluster) ?? [];
}

/** The previous decisions of one placement. */
export function decisionsOf(world: World, { namespace, name }: PlacementRef): readonly PlacementDecision[] {
  return DECISIONS(world.decisions).get(`${namespace}/${name}`) ?? [];
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
      const made = new Map<string, T[]>();
      for (const item of list) {
        const group = made.get(keyOf(item));
        if (group === undefined) made.set(keyOf(item), [item]);
        else group.push(item);
      }
      groups = made;
      known.set(list, groups);
    }
    return groups;
  };
}
