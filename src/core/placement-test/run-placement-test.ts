import { applySnapshotChanges } from '@berth/placement/explain/snapshot/apply-snapshot-change';
import { withRecordedResults } from '@berth/placement/explain/snapshot/recorded-decisions';
import type { PlacementRef } from '@berth/placement/explain/snapshot/snapshot-change';
import type { SourceLocation } from '@berth/runtime/problem/source-location';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { checkExpectation } from './check-expectation.ts';
import { changesOfStep } from './changes-of-step.ts';
import type { PlacementTestCase } from './placement-test.ts';

export interface CaseOutcome {
  readonly name: string;
  /** '' where the case is about no single one. */
  readonly placement: string;
  /** What does not hold; empty: passed. */
  readonly failures: readonly string[];
  /** The case itself is wrong (no such placement or cluster): it proves nothing either way. */
  readonly error: string | undefined;
  /** Of the case in its file. */
  readonly location?: SourceLocation | undefined;
}

export interface TestEngine {
  readonly schedule: (snapshot: Snapshot) => readonly ScheduleResult[];
  /** Why a cluster is selected or not in this snapshot, one line. */
  readonly explain: (snapshot: Snapshot, placement: PlacementRef, cluster: string) => string;
}

/**
 * Decides the snapshot and uses the result as the published decision. Then it applies the steps one after the other,
 * decides again and compares. All placements of the snapshot are decided, because Balance counts their clusters.
 */
export function runPlacementTestCase(
  snapshot: Snapshot,
  test: PlacementTestCase,
  engine: TestEngine,
): CaseOutcome {
  const [namespace = '', name = ''] = test.placement.split('/');
  const placement = { namespace, name };
  const wrong = (error: string): CaseOutcome => ({ ...head(test), failures: [], error });
  const before = engine.schedule(snapshot);
  const decidedBefore = resultOf(before, placement);
  if (decidedBefore === undefined) return wrong(`there is no Placement ${test.placement}${known(snapshot)}`);
  let changed = withRecordedResults(snapshot, before);
  for (const [i, step] of (test.given ?? []).entries()) {
    const given = changesOfStep(step, changed, placement);
    if (!given.ok) return wrong(`given[${i}]: ${given.error}`);
    changed = applySnapshotChanges(changed, given.changes);
  }
  const decided = resultOf(engine.schedule(changed), placement);
  if (decided === undefined) return wrong(`there is no Placement ${test.placement}`);
  const failures = checkExpectation(test.expect, {
    selected: decided.selected,
    selectedBefore: decidedBefore.selected,
    satisfied: decided.outcome === 'scheduled',
    clusters: changed.clusters,
    explain: (cluster) => engine.explain(changed, placement, cluster),
  });
  return { ...head(test), failures, error: undefined };
}

function head({ name, placement }: PlacementTestCase): { name: string; placement: string } {
  return { name, placement };
}

function resultOf(
  results: readonly ScheduleResult[],
  { namespace, name }: PlacementRef,
): ScheduleResult | undefined {
  return results.find(
    ({ placement: { metadata } }) => metadata.name === name && (metadata.namespace ?? '') === namespace,
  );
}

function known(snapshot: Snapshot): string {
  const names = snapshot.placements.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`);
  return names.length === 0
    ? ', the fleet has none'
    : `, the fleet has ${names.toSorted().slice(0, 5).join(', ')}`;
}
