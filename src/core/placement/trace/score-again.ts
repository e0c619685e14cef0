import type { ManagedCluster } from '../../model/kind/managed-cluster.ts';
import { scoreInput } from '../decide/decide-placement.ts';
import type { DecidedState } from '../decide/decided-state.ts';
import type { DecisionBook } from '../prior/decision-book.ts';
import type { ScoreInput } from '../prioritize/prioritizer.ts';
import type { Scored } from '../prioritize/score-clusters.ts';
import { scoreClusters } from '../prioritize/score-clusters.ts';
import type { SchedulingIndex } from '../index/scheduling-index.ts';
import type { ClusterOverride } from '../decide/select-ranked.ts';

/** A placement as it was decided, and the decisions of all as they are now. */
export interface DecidedAmong {
  readonly state: DecidedState;
  readonly book: DecisionBook;
}

/** A score that some cluster might report. */
export interface SupposedScore {
  readonly resourceName: string;
  readonly scoreName: string;
  readonly value: number;
}

/** What is scored instead of what the index holds. */
export interface Supposition {
  readonly override?: ClusterOverride | undefined;
  /** Instead of the recorded score of the override. */
  readonly addOnScore?: SupposedScore | undefined;
}

/** Scores clusters of a decided placement as its decision did, or would with hypothetical inputs. */
export function scoreAgain(
  index: SchedulingIndex,
  { state, book }: DecidedAmong,
  clusters: Uint32Array,
  supposition: Supposition = {},
): Scored {
  const { compiled, prior, kept } = state;
  if (!compiled.policy.ok) return { parts: [], totals: new Float64Array(0), ranges: [], expired: [] };
  // What others decided is in the kept scores.
  const base = scoreInput(index, { prior, counts: book.counts, counted: prior.bits, most: 0 });
  const input = { ...supposing(index, base, supposition), clusters };
  return scoreClusters(compiled.policy.prioritizers, input, kept);
}

function supposing(
  { fleet }: SchedulingIndex,
  base: Omit<ScoreInput, 'clusters'>,
  { override, addOnScore }: Supposition,
): Omit<ScoreInput, 'clusters'> {
  if (override === undefined) return base;
  const { number, cluster } = override;
  return {
    ...base,
    amounts: (resource) => fleet.amounts(resource).with(number, fleet.amountOf(cluster, resource)),
    addOnScore: (scored, name) =>
      scored === number && addOnScore?.resourceName === name
        ? scoreObject(addOnScore)
        : base.addOnScore(scored, name),
  };
}

/** A cluster of the fleet that is looked at as this object. */
export function overrideOf(
  { fleet }: SchedulingIndex,
  cluster: ManagedCluster | undefined,
): ClusterOverride | undefined {
  const number = cluster && fleet.numberOf(cluster.metadata.name);
  return cluster === undefined || number === undefined ? undefined : { number, cluster };
}

function scoreObject({ resourceName, scoreName, value }: SupposedScore) {
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1alpha1',
    kind: 'AddOnPlacementScore' as const,
    metadata: { name: resourceName },
    status: { scores: [{ name: scoreName, value }] },
  };
}
