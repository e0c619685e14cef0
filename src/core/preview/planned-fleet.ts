import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { isInSet, membershipOf, type SetMembership } from '@berth/placement/filter/eligibility';
import { claimOf, labelOf } from '@berth/placement/snapshot/cluster-index';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { FleetCluster, PlacementPlan, PlanCluster } from './plan.ts';

/**
 * Labels and claims that may contain the region of a cluster. The first one that is set counts: labels, then claims.
 */
const REGION_LABELS = ['region', 'topology.kubernetes.io/region'];
const REGION_CLAIMS = ['region.open-cluster-management.io', 'region'];

export function regionOf(cluster: ManagedCluster): string | undefined {
  for (const key of REGION_LABELS) {
    const value = labelOf(cluster, key);
    if (value !== undefined) return value;
  }
  for (const name of REGION_CLAIMS) {
    const value = claimOf(cluster, name);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Every cluster before or after a change, by name. */
export function planFleet(before: Snapshot, after: Snapshot): readonly FleetCluster[] {
  const [old, now] = [byName(before), byName(after)];
  const setsBefore = setsIn(before);
  const setsAfter = setsIn(after);
  const names = [...new Set([...old.keys(), ...now.keys()])].sort();
  return names.map((name) => {
    const cluster = now.get(name);
    const existing = old.get(name);
    const change = existing === undefined ? 'added' : cluster === undefined ? 'removed' : undefined;
    const shown = (cluster ?? existing) as ManagedCluster;
    const sets = (cluster === undefined ? setsBefore : setsAfter)(shown);
    return { name, sets, region: regionOf(shown), ...(change === undefined ? {} : { change }) };
  });
}

/** Clusters that placements gain, lose or list in their changes, with their labels. */
export function concernedClusters(
  fleet: readonly FleetCluster[],
  placements: readonly PlacementPlan[],
  after: Snapshot,
  before: Snapshot,
): readonly PlanCluster[] {
  const concerned = new Set(
    placements.flatMap(({ added, removed, regrouped }) => [
      ...[...added, ...removed].map(({ cluster }) => cluster),
      ...regrouped,
    ]),
  );
  const [old, now] = [byName(before), byName(after)];
  return fleet
    .filter(({ name, change }) => change !== undefined || concerned.has(name))
    .map((one) => {
      const cluster = now.get(one.name) ?? old.get(one.name);
      return { ...one, labels: cluster?.metadata.labels ?? {} };
    });
}

function byName({ clusters }: Snapshot): ReadonlyMap<string, ManagedCluster> {
  return new Map(clusters.map((cluster) => [cluster.metadata.name, cluster]));
}

function setsIn({ clusterSets }: Snapshot): (cluster: ManagedCluster) => readonly string[] {
  const sets = clusterSets.map((set) => ({ name: set.metadata.name, membership: membershipOf(set) }));
  return (cluster) =>
    sets
      .filter(({ membership }) => isInSet(cluster, membership))
      .toSorted((a, b) => rank(a.membership) - rank(b.membership) || (a.name < b.name ? -1 : 1))
      .map(({ name }) => name);
}

/** A cluster is in one set by its label, and can be in any number of other sets. */
function rank({ by }: SetMembership): number {
  return by === 'label' ? 0 : 1;
}
