import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Condition } from '@berth/kube/model/object-meta';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import {
  DECISION_GROUP_INDEX_LABEL,
  DECISION_GROUP_NAME_LABEL,
  PLACEMENT_LABEL,
} from '@berth/ocm/kind/placement-decision';
import type { Placement } from '@berth/ocm/kind/placement';
import { SCHEDULING_DISABLE_ANNOTATION } from '@berth/ocm/kind/placement';
import { compareInstants, formatRfc3339, parseRfc3339 } from '@berth/kube/model/rfc3339';
import type { Instant } from '@berth/kube/model/rfc3339';
import type { CaseDecision, CaseResult } from '../../src/case/case-result.ts';
import type { CompileCel } from '../../src/filter/cel-hook.ts';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';
import {
  availableClusters,
  byText,
  eligibleSetNames,
  filterByPredicates,
  filterByTaints,
  ownValue,
  toleratedUntil,
  validBindingNames,
} from './reference-filters.ts';
import type { Group } from './reference-groups.ts';
import { cutGroups } from './reference-groups.ts';
import type { Prioritizer } from './reference-scores.ts';
import { readPrioritizers, scoreClusters } from './reference-scores.ts';
import { orderFeasible, selectClusters } from './reference-select.ts';

/**
 * The rules of placement, plain and slow: the oracle that the engine is measured against and tested with. One list
 * per stage, no index, nothing remembered between placements but the decisions themselves.
 */
export function scheduleAllPlainly(snapshot: Snapshot, compileCel: CompileCel): CaseResult[] {
  let decisions = snapshot.decisions;
  return snapshot.placements.map((placement) => {
    const result = schedulePlainly({ ...snapshot, decisions }, placement, compileCel);
    if (result.scheduled) decisions = replaceDecisions(decisions, placement, result.placementDecisions);
    return result;
  });
}

export function replaceDecisions(
  decisions: readonly PlacementDecision[],
  placement: Placement,
  pages: readonly CaseDecision[],
): PlacementDecision[] {
  const { namespace } = placement.metadata;
  const fresh = pages.map(
    ({ name, labels, decisions: clusters }): PlacementDecision => ({
      apiVersion: 'cluster.open-cluster-management.io/v1beta1',
      kind: 'PlacementDecision',
      metadata: { name, namespace, labels },
      status: { decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })) },
    }),
  );
  return [...decisions.filter((decision) => !isOwn(decision, placement)), ...fresh];
}

function isOwn({ metadata }: PlacementDecision, placement: Placement): boolean {
  return (
    (metadata.namespace ?? '') === (placement.metadata.namespace ?? '') &&
    ownValue(metadata.labels, PLACEMENT_LABEL) === placement.metadata.name
  );
}

const namesOf = (decisions: readonly PlacementDecision[]): string[] =>
  decisions.flatMap((decision) => (decision.status?.decisions ?? []).map(({ clusterName }) => clusterName));

const sortedNames = (clusters: readonly ManagedCluster[]): string[] =>
  clusters.map(({ metadata }) => metadata.name).sort(byText);

type Draft = { -readonly [K in keyof CaseResult]: CaseResult[K] };

export function schedulePlainly(
  snapshot: Snapshot,
  placement: Placement,
  compileCel: CompileCel,
): CaseResult {
  const { metadata, spec } = placement;
  const draft: Draft = {
    placement: `${metadata.namespace ?? ''}/${metadata.name}`,
    scheduled: true,
    code: 'Success',
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
  if (
    metadata.deletionTimestamp !== undefined ||
    ownValue(metadata.annotations, SCHEDULING_DISABLE_ANNOTATION) === 'true'
  )
    return { ...draft, scheduled: false, code: '' };
  draft.eligibleClusterSets = eligibleSetNames(snapshot, placement);
  const available = availableClusters(snapshot, draft.eligibleClusterSets);
  draft.available = sortedNames(available);
  const { selected, totals } = runStages(snapshot, placement, { draft, available, compileCel });
  draft.selected = sortedByGiven(selected);
  draft.numberOfSelectedClusters = selected.length;
  const groups = cutGroups(snapshot, placement, selected, totals);
  if (typeof groups === 'string') fail(draft, '', groups);
  else writeGroups(draft, placement, groups);
  draft.conditions = [
    misconfiguredCondition(draft),
    satisfiedCondition(draft, { snapshot, placement, asked: spec?.numberOfClusters }),
  ];
  return draft;
}

const sortedByGiven = (clusters: readonly ManagedCluster[]): string[] =>
  clusters.map(({ metadata }) => metadata.name);

function fail(draft: Draft, plugin: string, message: string): void {
  draft.code = 'Misconfigured';
  draft.plugin = plugin;
  draft.message = message;
}

interface Stage {
  readonly draft: Draft;
  readonly available: ManagedCluster[];
  readonly compileCel: CompileCel;
}

function runStages(
  snapshot: Snapshot,
  placement: Placement,
  { draft, available, compileCel }: Stage,
): { selected: ManagedCluster[]; totals: Map<string, number> } {
  const nothing = { selected: [], totals: new Map<string, number>() };
  const matching = filterByPredicates(snapshot, placement, available, compileCel);
  if ('plugin' in matching) return fail(draft, matching.plugin, matching.message), nothing;
  draft.filters = [{ name: 'Predicate', filteredClusters: sortedNames(matching.clusters) }];
  const ownNames = namesOf(snapshot.decisions.filter((decision) => isOwn(decision, placement)));
  const own = new Set(ownNames);
  const tolerated = filterByTaints(snapshot, placement, matching.clusters, own);
  if ('plugin' in tolerated) return fail(draft, tolerated.plugin, tolerated.message), nothing;
  const feasible = tolerated.clusters;
  draft.filters = [
    ...draft.filters,
    { name: 'Predicate,TaintToleration', filteredClusters: sortedNames(feasible) },
  ];
  const prioritizers = readPrioritizers(placement);
  if (typeof prioritizers === 'string') return fail(draft, '', prioritizers), nothing;
  const others = namesOf(snapshot.decisions.filter((decision) => !isOwn(decision, placement)));
  const totals = addScores(snapshot, { draft, prioritizers, feasible, history: { others, own } });
  const ordered = orderFeasible(snapshot, placement, feasible, totals);
  const selected = selectClusters(placement, ordered);
  draft.unscheduled = Math.max(0, (placement.spec?.numberOfClusters ?? selected.length) - selected.length);
  draft.requeueAt = requeueTime(snapshot, placement, own);
  return { selected, totals };
}

interface Scoring {
  readonly draft: Draft;
  readonly prioritizers: Prioritizer[];
  readonly feasible: ManagedCluster[];
  readonly history: { readonly others: readonly string[]; readonly own: ReadonlySet<string> };
}

function addScores(
  snapshot: Snapshot,
  { draft, prioritizers, feasible, history }: Scoring,
): Map<string, number> {
  const totals = new Map(feasible.map(({ metadata }) => [metadata.name, 0]));
  for (const prioritizer of prioritizers) {
    const { scores, expired } = scoreClusters(snapshot, prioritizer, feasible, history);
    const { name, weight } = prioritizer;
    draft.prioritizers = [...draft.prioritizers, { name, weight, scores: Object.fromEntries(scores) }];
    for (const [cluster, score] of scores) totals.set(cluster, (totals.get(cluster) ?? 0) + score * weight);
    if (expired.length === 0) continue;
    draft.code = 'Warning';
    draft.plugin = name;
    draft.message = `AddOnPlacementScores ${expired.join(' ')} expired`;
  }
  draft.scores = Object.fromEntries(totals);
  return totals;
}

function requeueTime(snapshot: Snapshot, placement: Placement, own: ReadonlySet<string>): string | null {
  const now = parseRfc3339(snapshot.now) as Instant;
  const byName = new Map(snapshot.clusters.map((cluster) => [cluster.metadata.name, cluster]));
  const ends = [...byName.values()]
    .filter(({ metadata }) => own.has(metadata.name))
    .flatMap((cluster) => toleratedUntil(cluster, placement.spec?.tolerations ?? [], true, now) ?? []);
  const first = ends.sort(compareInstants)[0];
  return first === undefined ? null : formatRfc3339(first);
}

function writeGroups(draft: Draft, placement: Placement, groups: readonly Group[]): void {
  const pages: CaseDecision[] = [];
  draft.decisionGroups = groups.map(({ name, clusters }, index) => {
    const decisions: string[] = [];
    for (let at = 0; at === 0 || at < clusters.length; at += 100) {
      const page = `${placement.metadata.name}-decision-${pages.length + 1}`;
      decisions.push(page);
      pages.push({
        name: page,
        labels: {
          [PLACEMENT_LABEL]: placement.metadata.name,
          [DECISION_GROUP_NAME_LABEL]: name,
          [DECISION_GROUP_INDEX_LABEL]: String(index),
        },
        decisions: clusters.slice(at, at + 100),
      });
    }
    return { decisionGroupIndex: index, decisionGroupName: name, decisions, clusterCount: clusters.length };
  });
  draft.placementDecisions = pages;
}

function misconfiguredCondition({ code, plugin, message }: Draft): Condition {
  return code === 'Misconfigured'
    ? {
        type: 'PlacementMisconfigured',
        status: 'True',
        reason: 'Misconfigured',
        message: `${plugin}:${message}`,
      }
    : {
        type: 'PlacementMisconfigured',
        status: 'False',
        reason: 'Succeedconfigured',
        message: 'Placement configurations check pass',
      };
}

function satisfiedCondition(
  draft: Draft,
  { snapshot, placement }: { snapshot: Snapshot; placement: Placement; asked: number | undefined },
): Condition {
  const no = (reason: string, message: string): Condition => ({
    type: 'PlacementSatisfied',
    status: 'False',
    reason,
    message,
  });
  const eligible = draft.eligibleClusterSets;
  if (validBindingNames(snapshot, placement).length === 0)
    return no(
      'NoManagedClusterSetBindings',
      'No valid ManagedClusterSetBindings found in placement namespace',
    );
  if (eligible.length === 0)
    return no(
      'NoIntersection',
      `None of ManagedClusterSets [${(placement.spec?.clusterSets ?? []).join(',')}] is bound to placement namespace`,
    );
  if (draft.available.length === 0)
    return no(
      'AllManagedClusterSetsEmpty',
      `All ManagedClusterSets [${eligible.join(',')}] have no member ManagedCluster`,
    );
  if (draft.selected.length === 0)
    return no('NoManagedClusterMatched', 'No ManagedCluster matches any of the cluster predicate');
  if (draft.unscheduled > 0)
    return no('NotAllDecisionsScheduled', `${draft.unscheduled} cluster decisions unscheduled`);
  return {
    type: 'PlacementSatisfied',
    status: 'True',
    reason: 'AllDecisionsScheduled',
    message: 'All cluster decisions scheduled',
  };
}
