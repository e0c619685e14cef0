/** Clusters, best first, and their totals at the same positions. */
export interface RankedClusters {
  readonly order: Uint32Array;
  readonly totals: Float64Array;
}

/**
 * Sorts clusters by total, highest first, and then by name, which is the order of their numbers.
 * One pass counts the clusters of each total. A second pass puts the clusters in their places. With
 * a limit, only clusters within the limit get a place.
 * @param bound the largest absolute value of a total
 * @param into buffers for the result
 */
export function rankByCounting(
  { clusters, totals }: { readonly clusters: Uint32Array; readonly totals: Int32Array },
  { bound, limit }: { readonly bound: number; readonly limit: number },
  into: RankedClusters & { readonly levels: Uint32Array },
): RankedClusters {
  const size = Math.min(clusters.length, Math.max(limit, 0));
  const ranked = { order: into.order.subarray(0, size), totals: into.totals.subarray(0, size) };
  // A level is the difference of a total from the largest possible one. Entry n first counts the
  // clusters on level n − 1. Later it has the place where level n starts.
  const starts = into.levels.subarray(0, 2 * bound + 2).fill(0);
  for (let i = 0; i < totals.length; i++) {
    const next = bound - (totals[i] as number) + 1;
    starts[next] = (starts[next] as number) + 1;
  }
  let levels = 0;
  for (let start = 0; start < size; levels++) {
    const end = start + (starts[levels + 1] as number);
    starts[levels + 1] = end;
    // Most levels have few clusters or none, for which calling `fill` takes longer.
    for (const stop = Math.min(end, size); start < stop; start++) ranked.totals[start] = bound - levels;
    start = end;
  }
  const { order } = ranked;
  for (let i = 0; i < totals.length; i++) {
    const level = bound - (totals[i] as number);
    if (level >= levels) continue;
    const at = starts[level] as number;
    starts[level] = at + 1;
    if (at < size) order[at] = clusters[i] as number;
  }
  return ranked;
}
