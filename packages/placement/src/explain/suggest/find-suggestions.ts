import type { Snapshot } from '../../snapshot/snapshot.ts';
import { applySnapshotChanges } from '../snapshot/apply-snapshot-change.ts';
import { clusterVerdict } from '../verdict/cluster-verdict.ts';
import { decideFirstPlacement } from '../verdict/decide-in-snapshot.ts';
import type { ClusterVerdict, Suggestion } from '../verdict/explanation.ts';
import type { Fix } from './fixes.ts';
import { proposeFixes } from './fixes.ts';
import {
  isClusterChange,
  lostNames,
  rescheduleWithEdits,
  completeSuggestion,
  suggestScores,
} from './complete-suggestion.ts';
import { recordedClusters } from '../snapshot/recorded-decisions.ts';
import { singleClusterSnapshot } from '../snapshot/single-cluster-snapshot.ts';
import type { SuggestionSubject } from './suggestion-subject.ts';
import type { PlacementRef, SnapshotChange } from '../snapshot/snapshot-change.ts';

const MAX_SUGGESTIONS = 5;
/** How many filters one suggestion may address. */
const MAX_STAGES = 4;
const MAX_TRIES = 24;

/**
 * Finds changes after which a refused cluster would be selected. Filters examine one cluster at a
 * time, so a proposal is tried by scheduling the placement on the changed cluster alone: the engine
 * tells whether the proposal works, or which filter refuses next and needs another fix. A cluster
 * that passes the filters is then ranked among the others with the scores of the engine. Every
 * suggestion has been tried. Rejected: trying each proposal on the complete fleet, which costs as
 * much as deciding every placement again.
 */
export function findSuggestions(subject: SuggestionSubject): readonly Suggestion[] {
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
