import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { type ReportedScore, withScore } from '../snapshot/with-score.ts';
import { makeScoreInput } from '../decide/decide-placement.ts';
import type { DecidedState } from '../decide/decided-state.ts';
import type { DecisionIndex } from '../prior/decision-index.ts';
import type { ScoreInput } from '../prioritize/prioritizer.ts';
import type { ScoredClusters } from '../prioritize/score-clusters.ts';
import { scoreClusters } from '../prioritize/score-clusters.ts';
import type { SchedulingIndex } from '../index/scheduling-index.ts';
import type { ClusterOverride } from '../decide/select-ranked-clusters.ts';

/** A decided placement, and the current decisions of all placements. */
export interface DecisionContext {
  readonly state: DecidedState;
  readonly decisionIndex: DecisionIndex;
}

/** A score that a cluster might report. */
export type HypotheticalScore = Omit<ReportedScore, 'cluster'>;

/** Inputs that replace those of the index. */
export interface HypotheticalInput {
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
export function makeClusterOverride(
  { clusterIndex }: SchedulingIndex,
  cluster: ManagedCluster | undefined,
): ClusterOverride | undefined {
  const number = cluster && clusterIndex.numberOf(cluster.metadata.name);
  return cluster === undefined || number === undefined ? undefined : { number, cluster };
}
