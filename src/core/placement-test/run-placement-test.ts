import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { explainPair } from '@berth/placement/explain/explain-pair';
import { applySnapshotChanges } from '@berth/placement/explain/snapshot/apply-snapshot-change';
import { withRecordedResults } from '@berth/placement/explain/snapshot/recorded-decisions';
import type { PlacementRef } from '@berth/placement/explain/snapshot/snapshot-change';
import { describePair } from '@berth/placement/explain/text/describe-pair';
import { decideInSnapshot } from '@berth/placement/explain/verdict/decide-in-snapshot';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { scheduleAll } from '@berth/placement/engine';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { SourceLocation } from '@berth/runtime/problem/source-location';
import { changesOfStep } from './changes-of-step.ts';
import type { Expectation, PlacementTestCase } from './placement-test.ts';

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

/** The decision of a case, with the parts that expectations can check. */
export interface DecidedCase {
  readonly selected: readonly string[];
  /** Before the steps of `given`. */
  readonly selectedBefore: readonly string[];
  readonly satisfied: boolean;
  readonly clusters: readonly ManagedCluster[];
  /** Why a cluster is selected or not, one line. */
  readonly explain: (cluster: string) => string;
}

/** Every expectation that does not hold, in words; empty: the case passes. */
export function checkExpectation(expected: Expectation, decided: DecidedCase): readonly string[] {
  const checks = [checkNames, checkCounts, checkSpread, checkMoves, checkSatisfied];
  return checks.flatMap((check) => check(expected, decided));
}

function checkNames(expected: Expectation, { selected, explain }: DecidedCase): readonly string[] {
  const { exactly } = expected;
  const missing = [...(expected.selected ?? []), ...(exactly ?? [])].filter(
    (name) => !selected.includes(name),
  );
  const unwanted = [
    ...(expected.notSelected ?? []).filter((name) => selected.includes(name)),
    ...(exactly === undefined ? [] : selected.filter((name) => !exactly.includes(name))),
  ];
  return [
    ...[...new Set(missing)].map((name) => `${name} should be selected: ${explain(name)}`),
    ...[...new Set(unwanted)].map((name) => `${name} should not be selected: ${explain(name)}`),
  ];
}

function checkCounts(expected: Expectation, { selected }: DecidedCase): readonly string[] {
  const { count, atLeast, atMost } = expected;
  const got = `got ${selected.length}${selected.length === 0 ? '' : ` (${names(selected)})`}`;
  const failures: string[] = [];
  if (count !== undefined && selected.length !== count)
    failures.push(`${count} clusters should be selected: ${got}`);
  if (atLeast !== undefined && selected.length < atLeast)
    failures.push(`at least ${atLeast} clusters should be selected: ${got}`);
  if (atMost !== undefined && selected.length > atMost)
    failures.push(`at most ${atMost} clusters should be selected: ${got}`);
  return failures;
}

function checkSpread({ spread }: Expectation, { selected, clusters }: DecidedCase): readonly string[] {
  if (spread === undefined) return [];
  const chosen = clusters.filter(({ metadata }) => selected.includes(metadata.name));
  const values = new Set(
    chosen.map((cluster) => valueOf(cluster, spread)).filter((value) => value !== undefined),
  );
  if (values.size >= spread.atLeast) return [];
  const what = spread.label === undefined ? `claim ${spread.claim ?? ''}` : `label ${spread.label}`;
  const got = values.size === 0 ? '' : ` (${names([...values])})`;
  return [`at least ${spread.atLeast} values of ${what} should be covered: got ${values.size}${got}`];
}

function valueOf(cluster: ManagedCluster, spread: NonNullable<Expectation['spread']>): string | undefined {
  const { labels = {} } = cluster.metadata;
  if (spread.label !== undefined)
    return Object.hasOwn(labels, spread.label) ? labels[spread.label] : undefined;
  return cluster.status?.clusterClaims?.find(({ name }) => name === spread.claim)?.value;
}

function checkMoves(
  { movesAtMost }: Expectation,
  { selected, selectedBefore }: DecidedCase,
): readonly string[] {
  if (movesAtMost === undefined) return [];
  const gained = selected.filter((name) => !selectedBefore.includes(name));
  const lost = selectedBefore.filter((name) => !selected.includes(name));
  const moves = Math.max(gained.length, lost.length);
  if (moves <= movesAtMost) return [];
  const got = [...gained.map((name) => `+${name}`), ...lost.map((name) => `-${name}`)];
  return [`at most ${movesAtMost} clusters should move: got ${moves} (${got.join(', ')})`];
}

function checkSatisfied(expected: Expectation, { satisfied }: DecidedCase): readonly string[] {
  if (expected.satisfied === undefined || expected.satisfied === satisfied) return [];
  return [`the placement should${expected.satisfied ? '' : ' not'} be satisfied`];
}

function names(list: readonly string[]): string {
  return list.toSorted().join(', ');
}

/**
 * Placement tests run on the engine of the controller, and report failures like `berth explain`.
 */
export const TEST_ENGINE: TestEngine = {
  schedule: scheduleAll,
  explain: (snapshot, placement, cluster) => {
    const decision = decideInSnapshot(snapshot, placement);
    if (decision === undefined) return 'there is no such placement';
    const pair = explainPair({ ...decision, cluster });
    const [, first = 'no reason found'] = describePair({ ...pair, suggestions: [] });
    return first.trim();
  },
};
