import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import {
  DECISION_GROUP_INDEX_LABEL,
  DECISION_GROUP_NAME_LABEL,
  MAX_CLUSTERS_PER_DECISION,
  PLACEMENT_LABEL,
} from '@berth/ocm/kind/placement-decision';
import type { DecisionGroupStatus } from '@berth/ocm/kind/placement';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { pageOfClusters } from '../prior/page-of-clusters.ts';
import type { CaseDecision, CaseResult } from './case-result.ts';
import type { EngineOptions } from '../engine-options.ts';
import { PlacementEngine } from '../engine.ts';
import type { ScheduleResult } from '../result/schedule-result.ts';
import { placementKey } from '../index/scheduling-index.ts';
import type { PlacementTrace } from '../trace/trace.ts';

/** Schedules all placements of a snapshot and returns each decision with everything that led to it. */
export function simulateSnapshot(snapshot: Snapshot, options: EngineOptions = {}): CaseResult[] {
  const engine = new PlacementEngine(snapshot, options);
  engine.scheduleAll();
  return snapshot.placements.map((_, position) => renderCase(engine.traceAt(position) as PlacementTrace));
}

/** One decision as a `CaseResult`. Call it before the engine changes. */
export function renderCase(trace: PlacementTrace): CaseResult {
  const { result, stage } = trace.state;
  if (stage === 'skipped') return skippedCase(result);
  const pages = pagesOf(result);
  return {
    placement: placementKey(result.placement),
    scheduled: true,
    ...result.status,
    eligibleClusterSets: trace.eligibleSets,
    available: trace.available(),
    filters: filtersOf(trace),
    prioritizers: trace.prioritizers.map(({ name, weight }) => ({
      name,
      weight,
      scores: trace.scoresBy(name),
    })),
    scores: stage === 'done' ? trace.totals() : {},
    selected: result.selected,
    unscheduled: result.unscheduled,
    requeueAt:
      result.requeueAtMs === undefined ? null : formatRfc3339(instantFromEpochMs(result.requeueAtMs)),
    placementDecisions: pages.decisions,
    numberOfSelectedClusters: result.selected.length,
    decisionGroups: pages.groups,
    conditions: result.conditions,
  };
}

function filtersOf(trace: PlacementTrace): CaseResult['filters'] {
  const { stage } = trace.state;
  if (stage === 'none') return [];
  const predicate = { name: 'Predicate', filteredClusters: trace.afterPredicate() };
  if (stage === 'predicate') return [predicate];
  return [predicate, { name: 'Predicate,TaintToleration', filteredClusters: trace.afterTaints() }];
}

function skippedCase(result: ScheduleResult): CaseResult {
  return {
    placement: placementKey(result.placement),
    scheduled: false,
    code: '',
    plugin: '',
    message: '',
    eligibleClusterSets: [],
    available: [],
    filters: [],
    prioritizers: [],
    scores: {},
    selected: [],
    unscheduled: 0,
    requeueAt: null,
    placementDecisions: [],
    numberOfSelectedClusters: 0,
    decisionGroups: [],
    conditions: [],
  };
}

/**
 * The groups as pages of PlacementDecisions. Pages are numbered across all groups. An empty group
 * has one empty page.
 */
function pagesOf({ placement, groups }: ScheduleResult): {
  readonly decisions: CaseDecision[];
  readonly groups: DecisionGroupStatus[];
} {
  const { name: placementName } = placement.metadata;
  const decisions: CaseDecision[] = [];
  const statuses = groups.map(({ index, name, clusters }): DecisionGroupStatus => {
    const labels = {
      [PLACEMENT_LABEL]: placementName,
      [DECISION_GROUP_NAME_LABEL]: name,
      [DECISION_GROUP_INDEX_LABEL]: String(index),
    };
    const names: string[] = [];
    for (let at = 0; at === 0 || at < clusters.length; at += MAX_CLUSTERS_PER_DECISION) {
      const page = `${placementName}-decision-${decisions.length + 1}`;
      names.push(page);
      decisions.push({ name: page, labels, decisions: clusters.slice(at, at + MAX_CLUSTERS_PER_DECISION) });
    }
    return {
      decisionGroupIndex: index,
      decisionGroupName: name,
      decisions: names,
      clusterCount: clusters.length,
    };
  });
  return { decisions, groups: statuses };
}

/**
 * The decisions of a result as PlacementDecision objects, with the names of a first publication.
 * For a snapshot that continues from this result.
 */
export function decisionObjects(result: ScheduleResult): PlacementDecision[] {
  const { namespace } = result.placement.metadata;
  return pagesOf(result).decisions.map(({ name, labels, decisions }) =>
    pageOfClusters(
      {
        apiVersion: 'cluster.open-cluster-management.io/v1beta1',
        kind: 'PlacementDecision',
        metadata: { name, namespace, labels },
      },
      decisions,
    ),
  );
}
