import { findCondition } from '@berth/kube/model/condition-list';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Placement } from '@berth/ocm/kind/placement';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { explainPair } from './explain-pair.ts';
import { placementHints } from './placement-hints.ts';
import { recordedClusters } from './snapshot/recorded-decisions.ts';
import {
  DECIDED_BY_OTHERS_TEXT,
  notInEligibleSetText,
  OUTRANKED_TEXT,
  refusalText,
} from './text/refusal-text.ts';
import { clusterVerdict, decidingStage, scoreFinding } from './verdict/cluster-verdict.ts';
import type { DecidedPlacement } from './verdict/cluster-verdict.ts';
import {
  type ClusterWaveFinding,
  type DecisionChanges,
  type HoldFinding,
  MAX_NAMED_CLUSTERS,
  MAX_NEXT_CLUSTERS,
  type NextCluster,
  type PairExplanation,
  type PlacementExplanation,
  type RefusalGroup,
  type WavesExplanation,
} from './verdict/explanation.ts';
import { HELD_CONDITION } from './verdict/names-on-placements.ts';

/**
 * Explains a placement: the selected clusters with their scores, and why the others are not
 * selected, grouped by reason.
 */
export function explainPlacement(
  snapshot: Snapshot,
  decided: DecidedPlacement,
  changes?: DecisionChanges,
): PlacementExplanation {
  const { result, trace } = decided;
  const { metadata } = result.placement;
  const refusals = groupRefusals(snapshot, decided, changes);
  const skipped = result.outcome === 'skipped';
  return {
    placement: { namespace: metadata.namespace ?? '', name: metadata.name },
    outcome: result.outcome,
    message: outcomeMessage(decided),
    hints: placementHints(snapshot, result.placement),
    summary: summaryOf(result.selected.length, snapshot.clusters.length, refusals),
    counts: {
      clusters: snapshot.clusters.length,
      available: skipped ? 0 : trace.available().length,
      afterPredicates: skipped ? 0 : trace.afterPredicate().length,
      afterTaints: skipped ? 0 : trace.feasibleCount,
      selected: result.selected.length,
      wanted: result.placement.spec?.numberOfClusters,
    },
    eligibleSets: skipped ? [] : trace.eligibleSets,
    prioritizers: skipped ? [] : trace.prioritizers,
    selected: result.selected.map((cluster) => ({ cluster, score: scoreFinding(trace, cluster) })),
    next: skipped ? [] : nextInLine(decided),
    refusals,
    changes,
    reschedulesAt:
      result.requeueAtMs === undefined ? undefined : formatRfc3339(instantFromEpochMs(result.requeueAtMs)),
  };
}

function outcomeMessage({ result }: DecidedPlacement): string {
  if (result.outcome === 'skipped')
    return result.placement.metadata.deletionTimestamp === undefined
      ? 'Scheduling is disabled by the annotation of the placement'
      : 'The placement is being deleted';
  if (result.outcome === 'misconfigured')
    return [result.status.plugin, result.status.message].filter((part) => part !== '').join(': ');
  return (
    result.conditions.find(({ type }) => type === 'PlacementSatisfied')?.message ?? result.status.message
  );
}

/** The best of the clusters that passed all filters and are not selected. */
function nextInLine({ result, trace }: DecidedPlacement): readonly NextCluster[] {
  if (trace.feasibleCount === result.selected.length) return [];
  const selected = new Set(result.selected);
  return trace
    .ranking()
    .filter((name) => !selected.has(name))
    .slice(0, MAX_NEXT_CLUSTERS)
    .map((cluster) => {
      const constraint = trace.spreadRefusal(cluster);
      return { cluster, score: scoreFinding(trace, cluster), ...(constraint && { constraint }) };
    });
}

/** A suggestion ranks the whole fleet again, so only the largest groups get one, and none in a huge fleet. */
const [MAX_TRIED_GROUPS, MAX_TRIED_FLEET] = [6, 2_000] as const;

const FILTERS: readonly RefusalGroup['reason'][] = ['not-in-eligible-set', 'predicate', 'tainted'];

function groupRefusals(
  snapshot: Snapshot,
  decided: DecidedPlacement,
  changes: DecisionChanges | undefined,
): readonly RefusalGroup[] {
  const triedGroups = snapshot.clusters.length > MAX_TRIED_FLEET ? 0 : MAX_TRIED_GROUPS;
  const lost = new Set(changes?.lost.map(({ cluster }) => cluster));
  const selected = new Set(decided.result.selected);
  const groups = new Map<string, { reason: RefusalGroup['reason']; text: string; names: string[] }>();
  for (const cluster of snapshot.clusters) {
    const { name } = cluster.metadata;
    if (selected.has(name)) continue;
    const { reason, text } = refusalOf(decided, cluster);
    const group = groups.get(text);
    if (group === undefined) groups.set(text, { reason, text, names: [name] });
    else group.names.push(name);
  }
  return [...groups.values()]
    .toSorted((a, b) => b.names.length - a.names.length || (a.text < b.text ? -1 : 1))
    .map(({ reason, text, names }, at) => {
      const byName = names.toSorted();
      const lostFirst = [
        ...byName.filter((name) => lost.has(name)),
        ...byName.filter((name) => !lost.has(name)),
      ];
      const clusters = lostFirst.slice(0, MAX_NAMED_CLUSTERS);
      const [cluster] = clusters;
      const isTried = cluster !== undefined && at < triedGroups && FILTERS.includes(reason);
      const [flip] = isTried ? explainPair({ snapshot, decided, cluster }).suggestions : [];
      return { reason, text, count: names.length, clusters, ...(flip && { flip }) };
    });
}

/**
 * Fleets are large, so scores and lists are computed only where the stage does not already give the
 * reason.
 */
function refusalOf(
  decided: DecidedPlacement,
  cluster: ManagedCluster,
): { readonly reason: RefusalGroup['reason']; readonly text: string } {
  const { name } = cluster.metadata;
  const stage = decidingStage(decided, name, cluster);
  const isSpread = (decided.result.placement.spec?.spreadPolicy?.spreadConstraints ?? []).length > 0;
  if (stage === 'passed' && !isSpread) return { reason: 'outranked', text: OUTRANKED_TEXT };
  if (stage === 'not-in-eligible-set')
    return { reason: stage, text: notInEligibleSetText(decided.trace.eligibleSets) };
  const verdict = clusterVerdict(decided, name, cluster);
  return verdict.kind === 'selected'
    ? { reason: 'outranked', text: OUTRANKED_TEXT }
    : { reason: verdict.kind, text: refusalText(verdict) };
}

const MAX_SUMMARY_REASONS = 8;

/**
 * A summary in the style of kube-scheduler: `3 of 40 clusters selected; 25 lack label tier=gold, 9
 * tainted maintenance, 3 outranked`.
 */
function summaryOf(selected: number, clusters: number, refusals: readonly RefusalGroup[]): string {
  const head = `${selected} of ${clusters} ${clusters === 1 ? 'cluster' : 'clusters'} selected`;
  if (refusals.length === 0) return head;
  const shown = refusals.slice(0, MAX_SUMMARY_REASONS).map(({ count, text }) => `${count} ${text}`);
  const rest = refusals.slice(MAX_SUMMARY_REASONS).reduce((sum, { count }) => sum + count, 0);
  return `${head}; ${[...shown, ...(rest === 0 ? [] : [`${rest} for other reasons`])].join(', ')}`;
}

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

/** The wave of one cluster in each ApplicationSet that assigns one to it. */
export function clusterWaves(
  waves: readonly WavesExplanation[],
  cluster: string,
): readonly ClusterWaveFinding[] {
  return waves.flatMap(({ applicationSet, waves: all }) =>
    all.flatMap(({ wave, why, served, waiting }): readonly ClusterWaveFinding[] => {
      if (served.includes(cluster)) return [{ applicationSet, wave, isServed: true, why: undefined }];
      if (!waiting.includes(cluster)) return [];
      return [{ applicationSet, wave, isServed: false, why: why ?? OPENED }];
    }),
  );
}

const OPENED = 'its wave is open, and Berth has not written yet that it is served';

/**
 * The change of a placement that is held, as its condition says. Undefined if none is.
 * @param wanted the clusters that it selects now
 */
export function placementHold(
  snapshot: Snapshot,
  { metadata, status }: Placement,
  wanted: readonly string[],
): HoldFinding | undefined {
  const held = findCondition(status?.conditions, HELD_CONDITION);
  if (held?.status !== 'True') return undefined;
  const ref = { namespace: metadata.namespace ?? '', name: metadata.name };
  return { reason: held.reason, message: held.message, published: recordedClusters(snapshot, ref), wanted };
}
