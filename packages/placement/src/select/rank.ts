import type { Placement } from '@berth/ocm/kind/placement';

/**
 * Positions of the feasible clusters, best first: by total, highest first, then (only on request)
 * clusters without an untolerated PreferNoSelect taint first, then by name, which is the order of
 * the positions.
 *
 * Small whole totals are sorted by counting: one loop counts and one loop places. With a limit,
 * only entries within the limit are placed. Totals that are not whole numbers or that are far apart
 * are sorted by comparing.
 */
export function rankPositions(
  totals: Float64Array,
  limit: number,
  avoided: Uint8Array | undefined,
): Uint32Array {
  const count = totals.length;
  const size = Math.min(count, limit);
  if (size <= 0) return new Uint32Array(0);
  const range = count < FEW ? undefined : wholeRange(totals);
  if (range === undefined || range.most - range.least > MAX_BUCKETS)
    return rankByComparing(totals, avoided).slice(0, size);
  const stride = avoided === undefined ? 1 : 2;
  const { most } = range;
  // It is computed twice, because storing it would take a buffer as long as the list.
  const bucketOf = (i: number): number =>
    (most - (totals[i] as number)) * stride + (avoided === undefined ? 0 : (avoided[i] as number));
  const starts = new Uint32Array((most - range.least + 1) * stride + 1);
  for (let i = 0; i < count; i++) {
    const next = bucketOf(i) + 1;
    starts[next] = (starts[next] as number) + 1;
  }
  for (let b = 1; b < starts.length; b++) starts[b] = (starts[b] as number) + (starts[b - 1] as number);
  const ranked = new Uint32Array(size);
  for (let i = 0; i < count; i++) {
    const bucket = bucketOf(i);
    const at = starts[bucket] as number;
    if (at < size) ranked[at] = i;
    starts[bucket] = at + 1;
  }
  return ranked;
}

const MAX_BUCKETS = 1 << 16;
/** With fewer entries than this, counting is not worth its cost. */
const FEW = 32;

function wholeRange(totals: Float64Array): { least: number; most: number } | undefined {
  let [least, most] = [Infinity, -Infinity];
  for (let i = 0; i < totals.length; i++) {
    const total = totals[i] as number;
    if (!Number.isInteger(total)) return undefined;
    if (total < least) least = total;
    if (total > most) most = total;
  }
  return { least, most };
}

function rankByComparing(totals: Float64Array, avoided: Uint8Array | undefined): Uint32Array {
  return Uint32Array.from(totals.keys()).sort((left, right) => {
    const byTotal = (totals[right] as number) - (totals[left] as number);
    if (byTotal !== 0) return byTotal;
    const byAvoidance = avoided === undefined ? 0 : (avoided[left] as number) - (avoided[right] as number);
    return byAvoidance === 0 ? left - right : byAvoidance;
  });
}

/** Clusters, best first, and their totals at the same positions. */
export interface RankedClusters {
  readonly order: Uint32Array;
  readonly totals: Float64Array;
}

/**
 * Sorts clusters by total, highest first, and then by name, which is the order of their numbers.
 * One loop counts the clusters of each total. A second loop puts the clusters in their places. With
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

/**
 * The annotation that gives the taint effect PreferNoSelect a meaning. OCM declares the effect and
 * ignores it. If the annotation is exactly "tie-break", clusters with equal totals are ordered:
 * those without an untolerated PreferNoSelect taint come first.
 */
export const PREFER_NO_SELECT_ANNOTATION = 'berth.dev/prefer-no-select';

/** Whether the annotation of the placement is exactly `tie-break`. */
export function breaksTiesByPreferNoSelect({ metadata: { annotations } }: Placement): boolean {
  return (
    annotations !== undefined &&
    Object.hasOwn(annotations, PREFER_NO_SELECT_ANNOTATION) &&
    annotations[PREFER_NO_SELECT_ANNOTATION] === 'tie-break'
  );
}
