import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { clusterVerdict, decidingStage, scoreFinding } from './verdict/cluster-verdict.ts';
import type { DecidedPlacement } from './verdict/cluster-verdict.ts';
import type { DecisionChanges, PlacementExplanation, RefusalGroup } from './verdict/explanation.ts';
import { MAX_NAMED_CLUSTERS } from './verdict/explanation.ts';
import { notInEligibleSetText, OUTRANKED_TEXT, refusalText } from './text/refusal-text.ts';
import { placementHints } from './placement-hints.ts';

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
  const refusals = groupRefusals(snapshot, decided);
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

function groupRefusals(snapshot: Snapshot, decided: DecidedPlacement): readonly RefusalGroup[] {
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
    .map(({ reason, text, names }) => ({
      reason,
      text,
      count: names.length,
      clusters: names.toSorted().slice(0, MAX_NAMED_CLUSTERS),
    }))
    .toSorted((a, b) => b.count - a.count || (a.text < b.text ? -1 : 1));
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
