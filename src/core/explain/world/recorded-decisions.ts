import { apiVersionOf, PLACEMENT_DECISION } from '../../model/kinds.ts';
import type { Placement } from '../../model/kind/placement.ts';
import type { PlacementDecision } from '../../model/kind/placement-decision.ts';
import { PLACEMENT_LABEL } from '../../model/kind/placement-decision.ts';
import type { ScheduleResult } from '../../placement/result/schedule-result.ts';
import type { World } from '../../snapshot/world.ts';
import type { PlacementRef } from './world-change.ts';
import { decisionsOf } from './world-lookup.ts';

/** Clusters of a placement's previous decisions, in their order. */
export function recordedClusters(world: World, placement: PlacementRef): readonly string[] {
  return decisionsOf(world, placement).flatMap(({ status }) =>
    (status?.decisions ?? []).map(({ clusterName }) => clusterName),
  );
}

/**
 * The world in which these results have been published: the next scheduling sees them as the previous decisions. One
 * object per placement holds all its clusters, since only the names matter to a scheduler.
 */
export function withRecordedResults(world: World, results: readonly ScheduleResult[]): World {
  const decided = results.filter(({ outcome }) => outcome !== 'skipped');
  const owners = new Set(
    decided.map(({ placement }) => ownerKey(placement.metadata.namespace, placement.metadata.name)),
  );
  const kept = world.decisions.filter(
    ({ metadata }) => !owners.has(ownerKey(metadata.namespace, metadata.labels?.[PLACEMENT_LABEL])),
  );
  return {
    ...world,
    decisions: [
      ...kept,
      ...decided.map(({ placement, selected }) => decisionOf(placement.metadata, selected)),
    ],
  };
}

/** The world in which this is published for one placement, and what it has for all others; nothing for no cluster. */
export function withRecordedClusters(world: World, ref: PlacementRef, clusters: readonly string[]): World {
  const owner = ownerKey(ref.namespace, ref.name);
  const kept = world.decisions.filter(
    ({ metadata }) => ownerKey(metadata.namespace, metadata.labels?.[PLACEMENT_LABEL]) !== owner,
  );
  const own = clusters.length === 0 ? [] : [decisionOf(ref, clusters)];
  return { ...world, decisions: [...kept, ...own] };
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
