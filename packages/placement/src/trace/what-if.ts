import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { findSorted } from '@berth/runtime/lists/lower-bound';
import { makeScoreInput } from '../decide/decide-placement.ts';
import type { DecidedState } from '../decide/decided-state.ts';
import { type ClusterOverride, selectRankedClusters } from '../decide/select-ranked-clusters.ts';
import type { SchedulingIndex } from '../index/scheduling-index.ts';
import type { DecisionIndex } from '../prior/decision-index.ts';
import type { ScoreInput } from '../prioritize/prioritizer.ts';
import { scoreClusters, type ScoredClusters } from '../prioritize/score-clusters.ts';
import { bitsToArray, putBit } from '../snapshot/bitset.ts';
import { type ReportedScore, withScore } from '../snapshot/with-score.ts';

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

/** A decided placement, and the current decisions of all placements. */
export interface DecisionContext {
  readonly state: DecidedState;
  readonly decisionIndex: DecisionIndex;
}

/** A score that a cluster might report. */
type HypotheticalScore = Omit<ReportedScore, 'cluster'>;

/** Inputs that replace those of the index. */
interface HypotheticalInput {
  readonly override?: ClusterOverride | undefined;
  /** The score to use for the override instead of its recorded one. */
  readonly addOnScore?: HypotheticalScore | undefined;
}

/** Scores clusters as in the decision of a placement, or as it would with hypothetical inputs. */
export function scoreDecidedClusters(
  index: SchedulingIndex,
  { state, decisionIndex }: DecisionContext,
  clusters: Uint32Array,
  hypothetical: HypotheticalInput = {},
): ScoredClusters {
  const { compiled, prior, kept } = state;
  if (!compiled.policy.ok) return { parts: [], totals: new Float64Array(0), ranges: [], expired: [] };
  // The cached scores include the decisions of other placements.
  const base = makeScoreInput(index, { prior, counts: decisionIndex.counts, counted: prior.bits, most: 0 });
  const input = { ...withHypotheticalInput(index, base, hypothetical), clusters };
  return scoreClusters(compiled.policy.prioritizers, input, kept);
}

function withHypotheticalInput(
  { clusterIndex }: SchedulingIndex,
  base: Omit<ScoreInput, 'clusters'>,
  { override, addOnScore }: HypotheticalInput,
): Omit<ScoreInput, 'clusters'> {
  if (override === undefined) return base;
  const { number, cluster } = override;
  return {
    ...base,
    amounts: (resource) =>
      clusterIndex.amounts(resource).with(number, clusterIndex.amountOf(cluster, resource)),
    addOnScore: (scored, name) => {
      const recorded = base.addOnScore(scored, name);
      return scored === number && addOnScore?.resourceName === name
        ? withScore(recorded, { cluster: cluster.metadata.name, ...addOnScore })
        : recorded;
    },
  };
}

/** Makes an override that evaluates a cluster of the fleet with this object. */
function makeClusterOverride(
  { clusterIndex }: SchedulingIndex,
  cluster: ManagedCluster | undefined,
): ClusterOverride | undefined {
  const number = cluster && clusterIndex.numberOf(cluster.metadata.name);
  return cluster === undefined || number === undefined ? undefined : { number, cluster };
}
