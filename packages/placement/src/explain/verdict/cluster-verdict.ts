import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Placement } from '@berth/ocm/kind/placement';
import { epochMsOf, formatRfc3339, instantFromEpochMs, parseRfc3339 } from '@berth/kube/model/rfc3339';
import type { ScheduleResult } from '../../result/schedule-result.ts';
import type { TraceFailure, TraceTaint } from '../../trace/trace-predicates.ts';
import type { PlacementTrace } from '../../trace/trace.ts';
import type { ClusterVerdict, PredicateFailure, ScoreFinding, TaintFinding } from './explanation.ts';

/** One placement as decided in one snapshot. */
export interface DecidedPlacement {
  readonly result: ScheduleResult;
  readonly trace: PlacementTrace;
  /** RFC 3339 instant of the decision. */
  readonly now: string;
  /**
   * Decides an edited placement on the same clusters, with additional bound sets. Records nothing.
   */
  readonly retry: (placement: Placement, extraBindings: readonly string[]) => DecidedPlacement;
}

/**
 * Why this cluster is selected or not: the first stage that decided it, read from the trace of the
 * engine.
 */
export function clusterVerdict(
  decided: DecidedPlacement,
  name: string,
  cluster: ManagedCluster | undefined,
): ClusterVerdict {
  const { result, trace, now } = decided;
  const kind = decidingStage(decided, name, cluster);
  switch (kind) {
    case 'skipped':
      return { kind, why: skippedBecause(result) };
    case 'no-such-cluster':
    case 'cluster-being-deleted':
      return { kind };
    case 'not-in-eligible-set':
      return notEligible(result, trace, name);
    case 'misconfigured':
      return { kind, plugin: result.status.plugin, message: result.status.message };
    case 'predicate':
      return { kind, predicates: predicateFindings(trace, name) };
    case 'tainted':
      return { kind, taints: refusingTaints(trace, name, now) };
    case 'passed':
      return passedVerdict(result, trace, name);
  }
}

/** The last stage is `passed`: the cluster passed all filters, and its rank decided. */
export type DecidingStage = Exclude<ClusterVerdict['kind'], 'selected' | 'spread' | 'outranked'> | 'passed';

export function decidingStage(
  { result, trace }: DecidedPlacement,
  name: string,
  cluster: ManagedCluster | undefined,
): DecidingStage {
  if (result.outcome === 'skipped') return 'skipped';
  if (cluster === undefined) return 'no-such-cluster';
  if (!trace.isAvailable(name))
    return cluster.metadata.deletionTimestamp === undefined ? 'not-in-eligible-set' : 'cluster-being-deleted';
  if (result.outcome === 'misconfigured' || result.status.code === 'Error') return 'misconfigured';
  if (!trace.passesPredicate(name)) return 'predicate';
  return trace.passesTaints(name) ? 'passed' : 'tainted';
}

function passedVerdict(result: ScheduleResult, trace: PlacementTrace, name: string): ClusterVerdict {
  const score = scoreFinding(trace, name);
  if (result.selected.includes(name)) return { kind: 'selected', score };
  const constraint = trace.spreadRefusal(name);
  return constraint === undefined ? outranked(result, trace, score) : { kind: 'spread', score, constraint };
}

function skippedBecause({ placement }: ScheduleResult): 'being-deleted' | 'scheduling-disabled' {
  return placement.metadata.deletionTimestamp === undefined ? 'scheduling-disabled' : 'being-deleted';
}

function notEligible({ placement }: ScheduleResult, trace: PlacementTrace, name: string): ClusterVerdict {
  return {
    kind: 'not-in-eligible-set',
    memberOf: trace.setsOf(name),
    bound: trace.validBindings,
    wanted: placement.spec?.clusterSets ?? [],
    eligible: trace.eligibleSets,
  };
}

function outranked(result: ScheduleResult, trace: PlacementTrace, score: ScoreFinding): ClusterVerdict {
  const last = result.selected.at(-1);
  const total = last === undefined ? undefined : trace.score(last)?.total;
  return {
    kind: 'outranked',
    score,
    numberOfClusters: result.placement.spec?.numberOfClusters ?? result.selected.length,
    lastSelected: last === undefined || total === undefined ? undefined : { cluster: last, total },
  };
}

export function scoreFinding(trace: PlacementTrace, cluster: string): ScoreFinding {
  const score = trace.score(cluster);
  return {
    rank: trace.rank(cluster) ?? 0,
    of: trace.feasibleCount,
    total: score?.total ?? 0,
    parts: (score?.parts ?? []).map(({ name, weight, score: value, origin }) => ({
      prioritizer: name,
      weight,
      score: value,
      points: value * weight,
      ...(origin === undefined ? {} : { origin }),
    })),
  };
}

function predicateFindings(trace: PlacementTrace, cluster: string) {
  return trace.predicateFailures(cluster).map((failures, predicate) => ({
    predicate: failures[0]?.predicate ?? predicate,
    failures: failures.map(failureOf),
  }));
}

function failureOf({ part, requirement, actual, expression, failure }: TraceFailure): PredicateFailure {
  if (part === 'cel' || requirement === undefined)
    return { part: 'cel', expression: expression ?? '', failure };
  const { key, operator, values } = requirement;
  return { part, key, operator, values, actual };
}

/** Every taint of the cluster, and what it means for this placement. */
export function taintFindings(trace: PlacementTrace, cluster: string, now: string): readonly TaintFinding[] {
  return trace.taintVerdicts(cluster).map((verdict) => taintFinding(verdict, now));
}

function refusingTaints(trace: PlacementTrace, cluster: string, now: string): readonly TaintFinding[] {
  return taintFindings(trace, cluster, now).filter(isRefusing);
}

export function isRefusing({ verdict }: TaintFinding): boolean {
  return verdict === 'refused' || verdict === 'expired';
}

function taintFinding({ taint, verdict, toleration, untilMs }: TraceTaint, now: string): TaintFinding {
  const added = taint.timeAdded == null ? undefined : parseRfc3339(taint.timeAdded);
  const present = parseRfc3339(now);
  return {
    taint,
    verdict,
    ageSeconds:
      added === undefined || present === undefined
        ? undefined
        : Math.floor((epochMsOf(present) - epochMsOf(added)) / 1000),
    toleration,
    until: untilMs === undefined ? undefined : formatRfc3339(instantFromEpochMs(untilMs)),
  };
}
