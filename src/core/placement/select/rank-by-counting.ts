/** Clusters best first, and the total of each at the same place. */
export interface RankedClusters {
  readonly order: Uint32Array;
  readonly totals: Float64Array;
}

/**
 * Clusters best first: total descending, then by name, which is their order. One pass counts how many have each total, one puts
 * them in their places; with a limit, only those that make it.
 * @param bound no total is larger, or smaller than its negative
 * @param into where the answer may be put
 */
export function rankByCounting(
  { clusters, totals }: { readonly clusters: Uint32Array; readonly totals: Int32Array },
  { bound, limit }: { readonly bound: number; readonly limit: number },
  into: RankedClusters & { readonly levels: Uint32Array },
): RankedClusters {
  const size = Math.min(clusters.length, Math.max(limit, 0));
  const ranked = { order: into.order.subarray(0, size), totals: into.totals.subarray(0, size) };
  // By level, which is 0 for the largest possible total: how many clusters are on the one before, and then where each level starts.
  const starts = into.levels.subarray(0, 2 * bound + 2).fill(0);
  for (let i = 0; i < totals.length; i++) {
    const next = bound - (totals[i] as number) + 1;
    starts[next] = (starts[next] as number) + 1;
  }
  let levels = 0;
  for (let start = 0; start < size; levels++) {
    const end = start + (starts[levels + 1] as number);
    starts[levels + 1] = end;
    // Most levels have few clusters or none: to call `fill` for them takes longer.
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
