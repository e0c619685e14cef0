import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { bitsToArray, putBit } from '../snapshot/bitset.ts';
import { findSorted } from '@berth/runtime/lists/lower-bound';
import type { DecisionContext, HypotheticalScore } from './score-decided-clusters.ts';
import { makeClusterOverride, scoreDecidedClusters } from './score-decided-clusters.ts';
import type { SchedulingIndex } from '../index/scheduling-index.ts';
import { selectRankedClusters } from '../decide/select-ranked-clusters.ts';

/** A small change of the scoring inputs. The filters stay the same. */
export interface WhatIf {
  /**
   * A cluster of the fleet that is included with these labels, claims and resources, even if it does not pass the
   * filters.
   */
  readonly include?: ManagedCluster | undefined;
  readonly numberOfClusters?: number | undefined;
  /** The score of `include` to use instead of the recorded one. */
  readonly addOnScore?: HypotheticalScore | undefined;
}

export interface WhatIfOutcome {
  /** Names in rank order. `limitTo` limits their number. */
  readonly selected: (limitTo?: number) => readonly string[];
  /** The place of a cluster, from 1 for the first selected one; undefined if it is not selected. */
  readonly place: (cluster: string) => number | undefined;
}

const NONE_SELECTED: WhatIfOutcome = { selected: () => [], place: () => undefined };

/** Scores and selects again over the feasible clusters of a decided placement and the included one. */
export function evaluateWhatIf(
  index: SchedulingIndex,
  decided: DecisionContext,
  change: WhatIf,
): WhatIfOutcome {
  const { compiled, feasible } = decided.state;
  const { clusterIndex } = index;
  if (feasible === undefined || !compiled.policy.ok) return NONE_SELECTED;
  const override = makeClusterOverride(index, change.include);
  const bits = feasible.slice();
  if (override !== undefined) putBit(bits, override.number, true);
  const clusters = bitsToArray(bits);
  const { totals } = scoreDecidedClusters(index, decided, clusters, {
    override,
    addOnScore: change.addOnScore,
  });
  const limit = change.numberOfClusters ?? compiled.limit;
  const { positions } = selectRankedClusters({ compiled, clusterIndex, clusters, totals, limit, override });
  return {
    selected: (limitTo = positions.length) =>
      Array.from(
        positions.subarray(0, limitTo),
        (position) => clusterIndex.names[clusters[position] as number] as string,
      ),
    place: (name) => {
      const number = clusterIndex.numberOf(name);
      const position = number === undefined ? undefined : findSorted(clusters, number);
      const at = position === undefined ? -1 : positions.indexOf(position);
      return at < 0 ? undefined : at + 1;
    },
  };
}
