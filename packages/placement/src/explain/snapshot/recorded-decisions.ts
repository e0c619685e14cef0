import { apiVersionOf, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { Placement } from '@berth/ocm/kind/placement';
import { PLACEMENT_LABEL, type PlacementDecision } from '@berth/ocm/kind/placement-decision';
import type { ScheduleResult } from '../../result/schedule-result.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';
import type { PlacementRef } from './snapshot-change.ts';
import { decisionsOfPlacement } from './snapshot-lookup.ts';

/** Clusters of a placement's previous decisions, in their order. */
export function recordedClusters(snapshot: Snapshot, placement: PlacementRef): readonly string[] {
  return decisionsOfPlacement(snapshot, placement).flatMap(({ status }) =>
    (status?.decisions ?? []).map(({ clusterName }) => clusterName),
  );
}

/**
 * The snapshot with these results as the previous decisions of the next scheduling. One object per
 * placement holds all its clusters, since a scheduler needs only the names.
 */
export function withRecordedResults(snapshot: Snapshot, results: readonly ScheduleResult[]): Snapshot {
  const decided = results.filter(({ outcome }) => outcome !== 'skipped');
  const owners = new Set(
    decided.map(({ placement }) => ownerKey(placement.metadata.namespace, placement.metadata.name)),
  );
  const kept = snapshot.decisions.filter(
    ({ metadata }) => !owners.has(ownerKey(metadata.namespace, metadata.labels?.[PLACEMENT_LABEL])),
  );
  return {
    ...snapshot,
    decisions: [
      ...kept,
      ...decided.map(({ placement, selected }) => decisionOf(placement.metadata, selected)),
    ],
  };
}

/**
 * The snapshot with these clusters as the published decision of one placement. Decisions of other
 * placements stay.
 */
export function withRecordedClusters(
  snapshot: Snapshot,
  ref: PlacementRef,
  clusters: readonly string[],
): Snapshot {
  const owner = ownerKey(ref.namespace, ref.name);
  const kept = snapshot.decisions.filter(
    ({ metadata }) => ownerKey(metadata.namespace, metadata.labels?.[PLACEMENT_LABEL]) !== owner,
  );
  const own = clusters.length === 0 ? [] : [decisionOf(ref, clusters)];
  return { ...snapshot, decisions: [...kept, ...own] };
}

function ownerKey(namespace: string | undefined, placement: string | undefined): string {
  return `${namespace ?? ''}/${placement ?? ''}`;
}

function decisionOf(
  { name, namespace }: Pick<Placement['metadata'], 'name' | 'namespace'>,
  clusters: readonly string[],
): PlacementDecision {
  return {
    apiVersion: apiVersionOf(PLACEMENT_DECISION),
    kind: 'PlacementDecision',
    metadata: { name: `${name}-decision-1`, namespace, labels: { [PLACEMENT_LABEL]: name } },
    status: { decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })) },
  };
}
