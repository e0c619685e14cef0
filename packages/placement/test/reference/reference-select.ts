import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Placement, SpreadConstraint } from '@berth/ocm/kind/placement';
import type { Instant } from '@berth/kube/model/rfc3339';
import { parseRfc3339 } from '@berth/kube/model/rfc3339';
import { PREFER_NO_SELECT_ANNOTATION } from '../../src/select/rank.ts';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';
import { byText, claimMap, ownValue, taintToleratedUntil } from './reference-filters.ts';

/** Best first: total descending, then (opt-in) no untolerated PreferNoSelect taint first, then name. */
export function orderFeasible(
  snapshot: Snapshot,
  placement: Placement,
  feasible: readonly ManagedCluster[],
  totals: ReadonlyMap<string, number>,
): ManagedCluster[] {
  const optedIn = ownValue(placement.metadata.annotations, PREFER_NO_SELECT_ANNOTATION) === 'tie-break';
  const now = parseRfc3339(snapshot.now) as Instant;
  const avoided = (cluster: ManagedCluster): number =>
    optedIn &&
    (cluster.spec?.taints ?? []).some(
      (taint) =>
        taint.effect === 'PreferNoSelect' &&
        taintToleratedUntil(taint, placement.spec?.tolerations ?? [], now) === undefined,
    )
      ? 1
      : 0;
  return [...feasible].sort((left, right) => {
    const [a, b] = [left.metadata.name, right.metadata.name];
    return (totals.get(b) ?? 0) - (totals.get(a) ?? 0) || avoided(left) - avoided(right) || byText(a, b);
  });
}

/** Takes one cluster at a time and looks at all of them every time. */
export function selectClusters(placement: Placement, ordered: readonly ManagedCluster[]): ManagedCluster[] {
  const limit = placement.spec?.numberOfClusters ?? ordered.length;
  const constraints = placement.spec?.spreadPolicy?.spreadConstraints ?? [];
  if (constraints.length === 0) return ordered.slice(0, limit);
  const hard = constraints.filter(isHard);
  const selectable = ordered.filter((cluster) =>
    hard.every((one) => topologyValue(one, cluster) !== undefined),
  );
  const taken = new Set<ManagedCluster>();
  while (taken.size < limit) {
    const keeps = (one: SpreadConstraint, cluster: ManagedCluster): boolean =>
      keepsSkew(one, cluster, { selectable, taken });
    const open = selectable.filter(
      (cluster) => !taken.has(cluster) && hard.every((one) => keeps(one, cluster)),
    );
    const kept = (cluster: ManagedCluster): string =>
      constraints.map((one) => (keeps(one, cluster) ? '1' : '0')).join('');
    const best = open.map(kept).sort().at(-1);
    const next = open.find((cluster) => kept(cluster) === best);
    if (next === undefined) break;
    taken.add(next);
  }
  return ordered.filter((cluster) => taken.has(cluster));
}

export function isHard(constraint: SpreadConstraint): boolean {
  return constraint.whenUnsatisfiable === 'DoNotSchedule';
}

export function topologyValue(constraint: SpreadConstraint, cluster: ManagedCluster): string | undefined {
  const map = constraint.topologyKeyType === 'Claim' ? claimMap(cluster) : cluster.metadata.labels;
  return ownValue(map, constraint.topologyKey);
}

function keepsSkew(
  constraint: SpreadConstraint,
  cluster: ManagedCluster,
  { selectable, taken }: { selectable: readonly ManagedCluster[]; taken: ReadonlySet<ManagedCluster> },
): boolean {
  const value = topologyValue(constraint, cluster);
  if (value === undefined) return false;
  const counts = new Map<string, number>();
  for (const one of selectable) {
    const present = topologyValue(constraint, one);
    if (present !== undefined) counts.set(present, (counts.get(present) ?? 0) + (taken.has(one) ? 1 : 0));
  }
  return (counts.get(value) ?? 0) + 1 - Math.min(...counts.values()) <= Math.max(1, constraint.maxSkew ?? 1);
}
