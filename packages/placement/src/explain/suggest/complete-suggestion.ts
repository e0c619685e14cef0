import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { applyPlacementEdit } from '../snapshot/apply-snapshot-change.ts';
import type { DecidedPlacement } from '../verdict/cluster-verdict.ts';
import type { WhatIfOutcome } from '../../trace/what-if.ts';
import type { ClusterVerdict, ScoreFinding, Suggestion } from '../verdict/explanation.ts';
import type { Fix } from './fixes.ts';
import type { SuggestionSubject } from './suggestion-subject.ts';
import type { PlacementRef, SnapshotChange } from '../snapshot/snapshot-change.ts';

/**
 * Completes changes after which the cluster passes the filters: if it is still outranked,
 * `numberOfClusters` is raised, too.
 */
export function completeSuggestion(
  subject: SuggestionSubject,
  placement: PlacementRef,
  changes: Fix,
  cluster: ManagedCluster,
): readonly Suggestion[] {
  const { before, decided } = subject;
  const { numberOfClusters: asked, spreadPolicy } = decided.result.placement.spec ?? {};
  const isSpread = (spreadPolicy?.spreadConstraints ?? []).length > 0;
  // Without a limit, no cluster is selected instead of another.
  if (asked === undefined && !isSpread && before === decided.result.selected)
    return changes.length === 0 ? [] : [{ changes, evicts: [] }];
  const { name } = cluster.metadata;
  const decideFor = rankingWith(decided, changes, cluster);
  const needed = isSpread ? leastNeeded(name, decideFor) : decideFor(UNLIMITED).place(name);
  if (needed === undefined) return [];
  const isEnough = asked === undefined || needed <= asked;
  const places = isEnough ? asked : needed;
  const raise: Fix = isEnough
    ? []
    : [{ kind: 'set-number-of-clusters', placement, numberOfClusters: needed }];
  const all = [...changes, ...raise];
  // Without spread constraints a shorter selection is a prefix of a longer one.
  const selected = isSpread
    ? decideFor(places ?? UNLIMITED).selected()
    : decideFor(UNLIMITED).selected(places);
  return all.length === 0 ? [] : [{ changes: all, evicts: lostNames(before, selected) }];
}

/** A number of clusters larger than any fleet. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;

type Ranking = (numberOfClusters: number) => WhatIfOutcome;

/**
 * The clusters that would be selected after the changes. A change of the placement may admit other
 * clusters, so the placement is decided again. A change of the cluster affects no other cluster, so
 * the engine only ranks the changed one among them.
 */
function rankingWith(decided: DecidedPlacement, changes: Fix, include: ManagedCluster): Ranking {
  const edits = changes.filter((change) => !isClusterChange(change));
  const { trace } = edits.length === 0 ? decided : rescheduleWithEdits(decided, edits);
  let unlimited: WhatIfOutcome | undefined;
  return (numberOfClusters) => {
    if (numberOfClusters !== UNLIMITED) return trace.whatIf({ include, numberOfClusters });
    return (unlimited ??= trace.whatIf({ include, numberOfClusters }));
  };
}

/**
 * With spread constraints clusters are selected one by one, so each of the first n is also among
 * the first n + 1.
 */
function leastNeeded(cluster: string, decideFor: Ranking): number | undefined {
  const unlimited = decideFor(UNLIMITED);
  if (unlimited.place(cluster) === undefined) return undefined;
  let [few, enough] = [0, unlimited.selected().length];
  while (enough - few > 1) {
    const middle = Math.floor((few + enough) / 2);
    if (decideFor(middle).place(cluster) === undefined) few = middle;
    else enough = middle;
  }
  return enough;
}

/** Decides the placement again after changes of it and of its bindings. */
export function rescheduleWithEdits({ result, retry }: DecidedPlacement, edits: Fix): DecidedPlacement {
  const bound = edits.flatMap((edit) => (edit.kind === 'bind-cluster-set' ? [edit.clusterSet] : []));
  const edited = edits.reduce(
    (placement, edit) => ('placement' in edit ? applyPlacementEdit(placement, edit) : placement),
    result.placement,
  );
  return retry(edited, bound);
}

/** Whether a change affects only the cluster itself. */
export function isClusterChange(change: SnapshotChange): boolean {
  return 'cluster' in change;
}

/**
 * Suggests a higher add-on score (lower for a negative weight), if one within the limits is
 * sufficient.
 */
export function suggestScores(
  { decided: { trace, result }, cluster, before }: SuggestionSubject,
  verdict: Extract<ClusterVerdict, { kind: 'outranked' }>,
): readonly Suggestion[] {
  const { lastSelected, score } = verdict;
  if (lastSelected === undefined) return [];
  const name = cluster.metadata.name;
  const missingPoints = lastSelected.total - score.total + (name < lastSelected.cluster ? 0 : 1);
  return score.parts.flatMap((part) => {
    const addOnScore = neededScore(part, missingPoints);
    if (addOnScore === undefined) return [];
    const trial = trace.whatIf({
      include: cluster,
      numberOfClusters: result.placement.spec?.numberOfClusters,
      addOnScore,
    });
    if (trial.place(name) === undefined) return [];
    const change: SnapshotChange = { kind: 'set-score', cluster: name, ...addOnScore };
    return [{ changes: [change], evicts: lostNames(before, trial.selected()) }];
  });
}

const MAX_SCORE = 100;

function neededScore(part: ScoreFinding['parts'][number], missingPoints: number) {
  const [type, resourceName, scoreName] = part.prioritizer.split('/');
  if (type !== 'AddOn' || resourceName === undefined || scoreName === undefined || part.weight === 0)
    return undefined;
  const step = Math.ceil(missingPoints / Math.abs(part.weight)) * Math.sign(part.weight);
  const value = part.score + step;
  return Math.abs(value) > MAX_SCORE ? undefined : { resourceName, scoreName, value };
}

/** The names that are in the first list only. */
export function lostNames(before: readonly string[], after: readonly string[]): readonly string[] {
  const kept = new Set(after);
  return before.filter((name) => !kept.has(name));
}
