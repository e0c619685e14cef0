import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Expectation } from './placement-test.ts';

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
