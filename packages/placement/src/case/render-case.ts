import type { Condition } from '@berth/kube/model/object-meta';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { DecisionGroupStatus } from '@berth/ocm/kind/placement';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import {
  DECISION_GROUP_INDEX_LABEL,
  DECISION_GROUP_NAME_LABEL,
  MAX_CLUSTERS_PER_DECISION,
  PLACEMENT_LABEL,
} from '@berth/ocm/kind/placement-decision';
import { type EngineOptions, PlacementEngine } from '../engine.ts';
import { placementKey } from '../index/scheduling-index.ts';
import { pageOfClusters } from '../prior/published-clusters.ts';
import type { ScheduleResult } from '../result/schedule-result.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { PlacementTrace } from '../trace/trace.ts';

/**
 * One decision in the form that `berth simulate` prints and that tests compare with recorded
 * results. It is plain JSON. Lists of clusters are sorted by name, except `selected`, which is in
 * rank order.
 */
export interface CaseResult {
  /** `namespace/name` */
  readonly placement: string;
  /**
   * False if the placement was skipped, because it is deleted or its scheduling is disabled. Then
   * all other fields are empty.
   */
  readonly scheduled: boolean;
  readonly code: '' | 'Success' | 'Warning' | 'Error' | 'Misconfigured';
  readonly plugin: string;
  readonly message: string;
  readonly eligibleClusterSets: readonly string[];
  readonly available: readonly string[];
  /**
   * The clusters after each filter. The names add up: "Predicate", then
   * "Predicate,TaintToleration".
   */
  readonly filters: readonly { readonly name: string; readonly filteredClusters: readonly string[] }[];
  readonly prioritizers: readonly {
    readonly name: string;
    readonly weight: number;
    readonly scores: Readonly<Record<string, number>>;
  }[];
  /** Total score by cluster. */
  readonly scores: Readonly<Record<string, number>>;
  readonly selected: readonly string[];
  readonly unscheduled: number;
  /** RFC 3339, whole seconds. */
  readonly requeueAt: string | null;
  readonly placementDecisions: readonly CaseDecision[];
  readonly numberOfSelectedClusters: number;
  readonly decisionGroups: readonly DecisionGroupStatus[];
  readonly conditions: readonly Condition[];
}

export interface CaseDecision {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly decisions: readonly string[];
}

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
