import type { ClusterMove, PlacementMove } from './plan.ts';
import { groupBy } from '@berth/runtime/lists/group-by';

/**
 * Pairs each cluster that a placement loses with one that it gains: one in the same region if possible, otherwise the
 * next in the list. Clusters without a partner are only added or removed.
 */
export function pairMoves(
  removed: readonly ClusterMove[],
  added: readonly ClusterMove[],
  regionOf: (cluster: string) => string | undefined,
): readonly PlacementMove[] {
  const free = new Set(added);
  const partners = new Map<ClusterMove, ClusterMove>();
  const byRegion = groupBy(added, (move) => regionOf(move.cluster));
  for (const move of removed) {
    const near = byRegion.get(regionOf(move.cluster))?.shift();
    if (near === undefined) continue;
    partners.set(move, near);
    free.delete(near);
  }
  const rest = [...free];
  for (const move of removed) {
    const next = partners.has(move) ? undefined : rest.shift();
    if (next !== undefined) partners.set(move, next);
  }
  return removed.flatMap((from) => {
    const to = partners.get(from);
    return to === undefined ? [] : [moveOf(from, to)];
  });
}

function moveOf(from: ClusterMove, to: ClusterMove): PlacementMove {
  const { because, causes } = from;
  const isScored = from.points !== undefined && to.points !== undefined;
  const margin = isScored ? (to.points ?? 0) - (from.points ?? 0) : undefined;
  return { from: from.cluster, to: to.cluster, because, causes, margin };
}
