import type { Placement } from '@berth/ocm/kind/placement';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { recordedClusters } from './snapshot/recorded-decisions.ts';
import { DECIDED_BY_OTHERS_TEXT } from './text/refusal-text.ts';
import type { PairExplanation, PlacementExplanation } from './verdict/explanation.ts';

/**
 * Explains a placement that another controller decides: its published clusters only, since Berth
 * does not decide it.
 */
export function explainPlacementOfOthers(snapshot: Snapshot, placement: Placement): PlacementExplanation {
  const { namespace = '', name } = placement.metadata;
  const published = recordedClusters(snapshot, { namespace, name });
  const count = `${published.length} of ${snapshot.clusters.length} clusters published by another controller`;
  return {
    placement: { namespace, name },
    outcome: 'skipped',
    message: DECIDED_BY_OTHERS_TEXT,
    hints: [],
    summary: published.length === 0 ? count : `${count}: ${published.join(', ')}`,
    counts: {
      clusters: snapshot.clusters.length,
      available: 0,
      afterPredicates: 0,
      afterTaints: 0,
      selected: 0,
      wanted: placement.spec?.numberOfClusters,
    },
    eligibleSets: [],
    prioritizers: [],
    selected: [],
    next: [],
    refusals: [],
    changes: undefined,
    publishedByOthers: published,
    reschedulesAt: undefined,
  };
}

/** Explains one cluster of such a placement: it is selected if it is published. */
export function explainPairOfOthers(
  snapshot: Snapshot,
  placement: Placement,
  cluster: string,
): PairExplanation {
  const { namespace = '', name } = placement.metadata;
  return {
    placement: { namespace, name },
    cluster,
    selected: recordedClusters(snapshot, { namespace, name }).includes(cluster),
    verdict: { kind: 'skipped', why: 'decided-by-others' },
    toleratedTaints: [],
    suggestions: [],
    hints: [],
  };
}
