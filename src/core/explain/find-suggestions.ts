import type { ManagedCluster } from '../model/managed-cluster.ts';
import type { World } from '../snapshot/world.ts';
import { applyWorldChanges } from './apply-world-change.ts';
import { clusterVerdict } from './cluster-verdict.ts';
import type { DecidedPlacement } from './cluster-verdict.ts';
import type { ClusterVerdict, ScoreFinding, Suggestion } from './explanation.ts';
import type { Fix } from './fixes.ts';
import { fixesOf } from './fixes.ts';
import { recordedClusters } from './recorded-decisions.ts';
import { singleClusterWorld } from './single-cluster-world.ts';
import type { PlacementRef, WorldChange } from './world-change.ts';

/**
 * What would flip a refusal.
 *
 * The filters look at one cluster at a time, so a proposal is tried by scheduling the placement on that cluster alone,
 * changed: the engine itself says whether the proposal works and, if another filter refuses now, which fixes to add. What
 * passes the filters is then ranked among the others by the engine's own scores. Nothing is suggested that was not tried.
 * Rejected: trying each proposal on the whole fleet, which costs as much as deciding every placement anew.
 */
export interface SuggestionSubject {
  readonly world: World;
  readonly decided: DecidedPlacement;
  readonly cluster: ManagedCluster;
  readonly verdict: ClusterVerdict;
  /** Clusters that have the placement now: whoever of them is gone afterwards is evicted. */
  readonly before: readonly string[];
  /** Schedules a world with one placement. */
  readonly decide: (world: World) => DecidedPlacement | undefined;
  /** Whom the placement would select on the whole fleet after changes of it, with this numberOfClusters. */
  readonly redecide: (
    changes: readonly WorldChange[],
    numberOfClusters: number | undefined,
  ) => readonly string[];
}

const MAX_SUGGESTIONS = 5;
/** Filters after another that one suggestion may have to overcome. */
const MAX_STAGES = 4;
const MAX_TRIES = 24;

export function findSuggestions(subject: SuggestionSubject): readonly Suggestion[] {
  const { verdict } = subject;
  const { placement } = subject.decided.result;
  const ref = { namespace: placement.metadata.namespace ?? '', name: placement.metadata.name };
  if (verdict.kind === 'skipped')
    return verdict.why === 'scheduling-disabled' ? afterEnabling(subject, ref) : [];
  if (verdict.kind === 'outranked' || verdict.kind === 'spread') return rankSuggestions(subject, ref);
  const alone = singleClusterWorld(subject.world, placement, subject.cluster.metadata.name);
  const search: Search = { subject, alone, ref, tries: { left: MAX_TRIES }, found: [] };
  extend(search, [], verdict);
  const shortFirst = search.found.toSorted((a, b) => a.changes.length - b.changes.length);
  return distinct(shortFirst).slice(0, MAX_SUGGESTIONS);
}

/** A placement that is not scheduled has no ranking yet: it is decided as if it were, then explained like any other. */
function afterEnabling(subject: SuggestionSubject, placement: PlacementRef): readonly Suggestion[] {
  const enable: WorldChange = { kind: 'enable-scheduling', placement };
  const world = applyWorldChanges({ ...subject.world, placements: [subject.decided.result.placement] }, [
    enable,
  ]);
  const decided = subject.decide(world);
  if (decided === undefined) return [];
  const verdict = clusterVerdict(decided, subject.cluster.metadata.name, subject.cluster);
  const before = recordedClusters(subject.world, placement);
  if (verdict.kind === 'selected')
    return [{ changes: [enable], evicts: missing(before, decided.result.selected) }];
  const further = findSuggestions({ ...subject, world, decided, verdict, before });
  return further.map(({ changes, evicts }) => ({ changes: [enable, ...changes], evicts }));
}

interface Search {
  readonly subject: SuggestionSubject;
  readonly alone: World;
  readonly ref: PlacementRef;
  readonly tries: { left: number };
  readonly found: Suggestion[];
}

function extend(search: Search, so: Fix, verdict: ClusterVerdict): void {
  if (so.length > 0 && stagesOf(so) >= MAX_STAGES) return;
  const fixes = fixesOf(verdict, {
    placement: search.ref,
    cluster: search.subject.cluster.metadata.name,
    clusterSets: search.alone.clusterSets,
  });
  const looked = so.length === 0 ? fixes : oneOfEachSide(fixes);
  for (const fix of looked) tryFix(search, [...so, ...fix], verdict);
}

/** Behind the first refusal one fix of the cluster and one of the placement are enough to choose from. */
function oneOfEachSide(fixes: readonly Fix[]): readonly Fix[] {
  const ofCluster = fixes.find((fix) => fix.every(isOfCluster));
  const ofPlacement = fixes.find((fix) => !fix.every(isOfCluster));
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
  const world = applyWorldChanges(search.alone, changes);
  const decided = subject.decide(world);
  if (decided === undefined) return;
  const cluster = world.clusters[0];
  const verdict = clusterVerdict(decided, name, cluster);
  if (verdict.kind === 'selected' && cluster !== undefined)
    search.found.push(...ranked(search, changes, cluster));
  else if (verdict.kind !== before.kind) extend(search, changes, verdict);
}

/** The cluster passes the filters now; it may still be outranked. */
function ranked({ subject, ref }: Search, changes: Fix, cluster: ManagedCluster): readonly Suggestion[] {
  const order = orderWith(subject, changes, cluster);
  const place = order.everybody.indexOf(cluster.metadata.name);
  if (place < 0) return [];
  const { before } = subject;
  const selected = order.selected(subject.decided.result.placement.spec?.numberOfClusters);
  if (selected.includes(cluster.metadata.name)) return [{ changes, evicts: missing(before, selected) }];
  return [raised(changes, { placement: ref, numberOfClusters: place + 1, order, before })];
}

interface Order {
  /** As selected when every cluster is wanted. */
  readonly everybody: readonly string[];
  readonly selected: (numberOfClusters: number | undefined) => readonly string[];
}

/**
 * Who would be selected after the changes. A change of the cluster leaves all others as they are: the engine ranks it
 * among them. A change of the placement may let in others too: the placement is decided anew.
 */
function orderWith(subject: SuggestionSubject, changes: Fix, include: ManagedCluster): Order {
  const { trace, result } = subject.decided;
  const decideFor = changes.every(isOfCluster)
    ? (numberOfClusters: number | undefined) => trace.whatIf({ include, numberOfClusters }).selected
    : (numberOfClusters: number | undefined) => subject.redecide(changes, numberOfClusters);
  const everybody = decideFor(undefined);
  // Without constraints on spread a shorter selection is the beginning of a longer one.
  const isPrefix = (result.placement.spec?.spreadPolicy?.spreadConstraints ?? []).length === 0;
  return {
    everybody,
    selected: (numberOfClusters) =>
      isPrefix || numberOfClusters === undefined
        ? everybody.slice(0, numberOfClusters)
        : decideFor(numberOfClusters),
  };
}

function isOfCluster(change: WorldChange): boolean {
  return 'cluster' in change;
}

function raised(
  changes: Fix,
  to: {
    readonly placement: PlacementRef;
    readonly numberOfClusters: number;
    readonly order: Order;
    readonly before: readonly string[];
  },
): Suggestion {
  const { placement, numberOfClusters } = to;
  return {
    changes: [...changes, { kind: 'set-number-of-clusters', placement, numberOfClusters }],
    evicts: missing(to.before, to.order.selected(numberOfClusters)),
  };
}

function rankSuggestions(subject: SuggestionSubject, placement: PlacementRef): readonly Suggestion[] {
  const { cluster, verdict, before } = subject;
  const order = orderWith(subject, [], cluster);
  const place = order.everybody.indexOf(cluster.metadata.name);
  const raise = place < 0 ? [] : [raised([], { placement, numberOfClusters: place + 1, order, before })];
  return verdict.kind === 'outranked' ? [...raise, ...scoreSuggestions(subject, verdict)] : raise;
}

/** A higher (or, with a negative weight, lower) add-on score, when one within its limits is enough. */
function scoreSuggestions(
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
    if (!trial.selected.includes(name)) return [];
    const change: WorldChange = { kind: 'set-score', cluster: name, ...addOnScore };
    return [{ changes: [change], evicts: missing(before, trial.selected) }];
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

function missing(before: readonly string[], after: readonly string[]): readonly string[] {
  const kept = new Set(after);
  return before.filter((name) => !kept.has(name));
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
