import type { ManagedCluster } from '../../src/core/model/managed-cluster.ts';
import type { Placement } from '../../src/core/model/placement.ts';
import type { World } from '../../src/core/snapshot/world.ts';
import { byText } from './reference-filters.ts';

/** Best first: total descending, then name. */
export function orderFeasible(
  _world: World,
  _placement: Placement,
  feasible: readonly ManagedCluster[],
  totals: ReadonlyMap<string, number>,
): ManagedCluster[] {
  return [...feasible].sort((left, right) => {
    const [a, b] = [left.metadata.name, right.metadata.name];
    return (totals.get(b) ?? 0) - (totals.get(a) ?? 0) || byText(a, b);
  });
}

export function selectClusters(placement: Placement, ordered: readonly ManagedCluster[]): ManagedCluster[] {
  return ordered.slice(0, placement.spec?.numberOfClusters ?? ordered.length);
}
