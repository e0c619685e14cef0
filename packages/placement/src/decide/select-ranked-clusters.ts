import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { SpreadConstraint } from '@berth/ocm/kind/placement';
import { hasBit } from '../snapshot/bitset.ts';
import { claimOf, type ClusterIndex, labelOf } from '../snapshot/cluster-index.ts';
import { rankPositions } from '../select/rank.ts';
import type { SpreadReached } from '../result/schedule-result.ts';
import type { CompiledPlacement } from '../index/scheduling-index.ts';
import { selectSpread } from '../select/spread.ts';

/** A cluster that is evaluated with another object instead of its own. */
export interface ClusterOverride {
  readonly number: number;
  readonly cluster: ManagedCluster;
}

export interface SelectionInput {
  readonly compiled: CompiledPlacement;
  readonly clusterIndex: ClusterIndex;
  /**
   * The numbers of the feasible clusters, ascending. `totals` has their totals at the same
   * positions.
   */
  readonly clusters: Uint32Array;
  readonly totals: Float64Array;
  readonly limit: number;
  readonly override?: ClusterOverride | undefined;
}

export interface ClusterSelection {
  /** Positions in `clusters`, in rank order. */
  readonly positions: Uint32Array;
  readonly spread: readonly SpreadReached[] | undefined;
}

/** Selects the best clusters, by rank alone or under the spread constraints. */
export function selectRankedClusters(input: SelectionInput): ClusterSelection {
  const { compiled, clusterIndex, totals, limit } = input;
  if (compiled.spread.length === 0) return { positions: rankClusters(input, limit), spread: undefined };
  const constraints = compiled.spread.map((constraint) => ({
    constraint,
    values: topologyValues(constraint, clusterIndex, input),
  }));
  const ranked = rankClusters(input, totals.length);
  const { taken, skews } = selectSpread({ ranked, limit, constraints });
  const spread = compiled.spread.map((constraint, c) => ({ constraint, skew: skews[c] as number }));
  return { positions: taken, spread };
}

/** At most `limit` positions in `clusters`, best first. */
export function rankClusters(
  { compiled, clusters, totals }: Pick<SelectionInput, 'compiled' | 'clusters' | 'totals'>,
  limit: number,
): Uint32Array {
  const { avoided } = compiled.tolerations;
  const flags = compiled.avoidPreferNoSelect
    ? Uint8Array.from(clusters, (cluster) => (hasBit(avoided, cluster) ? 1 : 0))
    : undefined;
  return rankPositions(totals, limit, flags);
}

/** For each position, the number of its topology value; 0 if the cluster does not have the key. */
function topologyValues(
  { topologyKey, topologyKeyType }: SpreadConstraint,
  clusterIndex: ClusterIndex,
  { clusters, override }: SelectionInput,
): Int32Array {
  const isClaim = topologyKeyType === 'Claim';
  const index = isClaim ? clusterIndex.claims : clusterIndex.labels;
  const column = index.column(topologyKey);
  const values = Int32Array.from(clusters, (cluster) => column[cluster] as number);
  const at = override === undefined ? -1 : clusters.indexOf(override.number);
  if (override !== undefined && at >= 0) {
    const value = (isClaim ? claimOf : labelOf)(override.cluster, topologyKey);
    values[at] = value === undefined ? 0 : index.valueNumber(topologyKey, value);
  }
  return values;
}
