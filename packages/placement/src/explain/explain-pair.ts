import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Placement } from '@berth/ocm/kind/placement';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { WhatIfOutcome } from '../trace/what-if.ts';
import { placementHints } from './placement-hints.ts';
import { applySnapshotChanges, applyPlacementEdit } from './snapshot/apply-snapshot-change.ts';
import { recordedClusters } from './snapshot/recorded-decisions.ts';
import type { PlacementRef, SnapshotChange } from './snapshot/snapshot-change.ts';
import { findCluster, decisionsOfPlacement, scoresOfCluster } from './snapshot/snapshot-lookup.ts';
import { type Fix, proposeFixes } from './suggest/fixes.ts';
import {
  clusterVerdict,
  isRefusing,
  taintFindings,
  type DecidedPlacement,
} from './verdict/cluster-verdict.ts';
import { decideFirstPlacement } from './verdict/decide-in-snapshot.ts';
import type {
  PairExplanation,
  TaintFinding,
  ClusterVerdict,
  Suggestion,
  ScoreFinding,
} from './verdict/explanation.ts';

export interface PairSubject {
  readonly snapshot: Snapshot;
  readonly decided: DecidedPlacement;
  readonly cluster: string;
  /**
   * False: no suggestions, for lists of many clusters, since each suggestion is tried by deciding
   * again.
   */
  readonly suggest?: boolean | undefined;
}

/** A refused placement and cluster, and functions to try changes on them. */
interface SuggestionSubject {
  readonly snapshot: Snapshot;
  readonly decided: DecidedPlacement;
  readonly cluster: ManagedCluster;
  readonly verdict: ClusterVerdict;
  /** Clusters that are selected now; those that a change deselects are reported as evicted. */
  readonly before: readonly string[];
}

/** Why one placement selects a cluster or not, and which changes would select it. */
export function explainPair({
  snapshot,
  decided,
  cluster: name,
  suggest = true,
}: PairSubject): PairExplanation {
  const { metadata } = decided.result.placement;
  const cluster = findCluster(snapshot, name);
  const verdict = clusterVerdict(decided, name, cluster);
  const selected = verdict.kind === 'selected';
  const before = decided.result.selected;
  return {
    placement: { namespace: metadata.namespace ?? '', name: metadata.name },
    cluster: name,
    selected,
    verdict,
    toleratedTaints: toleratedTaints(decided, name, verdict.kind),
    suggestions:
      selected || cluster === undefined || !suggest
        ? []
        : findSuggestions({ snapshot, decided, cluster, verdict, before }),
    hints: verdict.kind === 'misconfigured' ? placementHints(snapshot, decided.result.placement) : [],
  };
}

/** Taints are listed only if the earlier filters passed. */
function toleratedTaints(
  { trace, now }: DecidedPlacement,
  cluster: string,
  verdict: PairExplanation['verdict']['kind'],
): readonly TaintFinding[] {
  if (!['selected', 'tainted', 'spread', 'outranked'].includes(verdict)) return [];
  return taintFindings(trace, cluster, now).filter((finding) => !isRefusing(finding));
}

const MAX_SUGGESTIONS = 5;

const MAX_TRIES = 24;

/**
 * Finds changes after which a refused cluster would be selected. Filters examine one cluster at a
 * time, so a proposal is tried by scheduling the placement on the changed cluster alone: the engine
 * tells whether the proposal works, or which filter refuses next and needs another fix. A cluster
 * that passes the filters is then ranked among the others with the scores of the engine. Every
 * suggestion has been tried. Rejected: trying each proposal on the complete fleet, which costs as
 * much as deciding every placement again.
 */
function findSuggestions(subject: SuggestionSubject): readonly Suggestion[] {
  const { verdict } = subject;
  const { placement } = subject.decided.result;
  const ref = { namespace: placement.metadata.namespace ?? '', name: placement.metadata.name };
  if (verdict.kind === 'skipped')
    return verdict.why === 'scheduling-disabled' ? afterEnabling(subject, ref) : [];
  const raise =
    verdict.kind === 'outranked' || verdict.kind === 'spread'
      ? completeSuggestion(subject, ref, [], subject.cluster)
      : [];
  if (verdict.kind === 'outranked') return [...raise, ...suggestScores(subject, verdict)];
  const alone = singleClusterSnapshot(subject.snapshot, placement, subject.cluster);
  const search: Search = { subject, alone, ref, tries: { left: MAX_TRIES }, found: [] };
  extend(search, [], verdict);
  const shortFirst = search.found.toSorted((a, b) => a.changes.length - b.changes.length);
  return distinct([...raise, ...shortFirst]).slice(0, MAX_SUGGESTIONS);
}

/** A placement that is not scheduled has no ranking yet: it is decided as if it were, then explained like any other. */
function afterEnabling(subject: SuggestionSubject, placement: PlacementRef): readonly Suggestion[] {
  const enable: SnapshotChange = { kind: 'enable-scheduling', placement };
  const decided = rescheduleWithEdits(subject.decided, [enable]);
  const verdict = clusterVerdict(decided, subject.cluster.metadata.name, subject.cluster);
  const before = recordedClusters(subject.snapshot, placement);
  if (verdict.kind === 'selected')
    return [{ changes: [enable], evicts: lostNames(before, decided.result.selected) }];
  const further = findSuggestions({ ...subject, decided, verdict, before });
  return further.map(({ changes, evicts }) => ({ changes: [enable, ...changes], evicts }));
}

interface Search {
  readonly subject: SuggestionSubject;
  readonly alone: Snapshot;
  readonly ref: PlacementRef;
  readonly tries: { left: number };
  readonly found: Suggestion[];
}

/** How many filters one suggestion may address. */
const MAX_STAGES = 4;

function extend(search: Search, changes: Fix, verdict: ClusterVerdict): void {
  if (changes.length > 0 && stagesOf(changes) >= MAX_STAGES) return;
  const fixes = proposeFixes(verdict, {
    placement: search.ref,
    cluster: search.subject.cluster.metadata.name,
    clusterSets: search.alone.clusterSets,
  });
  const tried = changes.length === 0 ? fixes : oneOfEachSide(fixes);
  for (const fix of tried) tryFix(search, [...changes, ...fix], verdict);
}

/** After the first refusal, one fix of the cluster and one of the placement are tried. */
function oneOfEachSide(fixes: readonly Fix[]): readonly Fix[] {
  const ofCluster = fixes.find((fix) => fix.every(isClusterChange));
  const ofPlacement = fixes.find((fix) => !fix.every(isClusterChange));
  return [ofCluster, ofPlacement].filter((fix) => fix !== undefined);
}

/** An upper bound is enough: the search ends by its number of tries as well. */
function stagesOf(fix: Fix): number {
  return new Set(fix.map(({ kind }) => kind)).size;
}

function tryFix(search: Search, changes: Fix, before: ClusterVerdict): void {
  if (search.tries.left-- <= 0) return;
  const { subject } = search;
  const name = subject.cluster.metadata.name;
  const snapshot = applySnapshotChanges(search.alone, changes);
  const decided = decideFirstPlacement(snapshot);
  if (decided === undefined) return;
  const cluster = snapshot.clusters[0];
  const verdict = clusterVerdict(decided, name, cluster);
  if (verdict.kind === 'selected' && cluster !== undefined)
    search.found.push(...completeSuggestion(subject, search.ref, changes, cluster));
  else if (verdict.kind !== before.kind) extend(search, changes, verdict);
}

function distinct(suggestions: readonly Suggestion[]): readonly Suggestion[] {
  const seen = new Set<string>();
  return suggestions.filter(({ changes }) => {
    const key = JSON.stringify(changes);
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

/** A number of clusters larger than any fleet. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;

/**
 * Completes changes after which the cluster passes the filters: if it is still outranked,
 * `numberOfClusters` is raised, too.
 */
function completeSuggestion(
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
function rescheduleWithEdits({ result, retry }: DecidedPlacement, edits: Fix): DecidedPlacement {
  const bound = edits.flatMap((edit) => (edit.kind === 'bind-cluster-set' ? [edit.clusterSet] : []));
  const edited = edits.reduce(
    (placement, edit) => ('placement' in edit ? applyPlacementEdit(placement, edit) : placement),
    result.placement,
  );
  return retry(edited, bound);
}

/** Whether a change affects only the cluster itself. */
function isClusterChange(change: SnapshotChange): boolean {
  return 'cluster' in change;
}

/**
 * Suggests a higher add-on score (lower for a negative weight), if one within the limits is
 * sufficient.
 */
function suggestScores(
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
function lostNames(before: readonly string[], after: readonly string[]): readonly string[] {
  const kept = new Set(after);
  return before.filter((name) => !kept.has(name));
}

/**
 * The part of a snapshot that determines whether one cluster passes the filters of one placement. A
 * scheduler run on it takes microseconds, independent of the size of the fleet. `numberOfClusters`
 * is removed, because there is no ranking against others.
 */
function singleClusterSnapshot(snapshot: Snapshot, placement: Placement, cluster: ManagedCluster): Snapshot {
  const { namespace = '', name } = placement.metadata;
  const { numberOfClusters: _, ...spec } = placement.spec ?? {};
  return {
    now: snapshot.now,
    placements: [{ ...placement, spec }],
    clusters: [cluster],
    clusterSets: snapshot.clusterSets,
    bindings: snapshot.bindings.filter(({ metadata }) => metadata.namespace === namespace),
    decisions: decisionsOfPlacement(snapshot, { namespace, name }),
    scores: scoresOfCluster(snapshot, cluster.metadata.name),
  };
}
