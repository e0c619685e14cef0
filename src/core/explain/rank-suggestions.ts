import type { ManagedCluster } from '../model/managed-cluster.ts';
import { placementAfter } from './apply-world-change.ts';
import type { DecidedPlacement } from './cluster-verdict.ts';
import type { ClusterVerdict, ScoreFinding, Suggestion } from './explanation.ts';
import type { Fix } from './fixes.ts';
import type { SuggestionSubject } from './suggestion-subject.ts';
import type { PlacementRef, WorldChange } from './world-change.ts';

/** After these changes the cluster passes the filters; if it is outranked still, more places are asked for too. */
export function suggestRanked(
  subject: SuggestionSubject,
  placement: PlacementRef,
  changes: Fix,
  cluster: ManagedCluster,
): readonly Suggestion[] {
  const { before } = subject;
  const { name } = cluster.metadata;
  const order = orderWith(subject, changes, cluster);
  const selected = order.selected(subject.decided.result.placement.spec?.numberOfClusters);
  if (selected.includes(name))
    return changes.length === 0 ? [] : [{ changes, evicts: missing(before, selected) }];
  const numberOfClusters = order.needed(name);
  if (numberOfClusters === undefined) return [];
  const raise: WorldChange = { kind: 'set-number-of-clusters', placement, numberOfClusters };
  return [{ changes: [...changes, raise], evicts: missing(before, order.selected(numberOfClusters)) }];
}

interface Order {
  readonly selected: (numberOfClusters: number | undefined) => readonly string[];
  /** The smallest numberOfClusters with which the cluster is selected. */
  readonly needed: (cluster: string) => number | undefined;
}

/** More places than any fleet has clusters. */
const EVERYBODY = Number.MAX_SAFE_INTEGER;

/**
 * Who would be selected after the changes. A change of the placement may let in other clusters too: it is decided anew.
 * A change of the cluster leaves all others as they are: the engine ranks the changed cluster among them.
 */
function orderWith({ decided }: SuggestionSubject, changes: Fix, include: ManagedCluster): Order {
  const edits = changes.filter((change) => !isOfCluster(change));
  const { trace, result } = edits.length === 0 ? decided : retryWith(decided, edits);
  const decideFor = (numberOfClusters = EVERYBODY) => trace.whatIf({ include, numberOfClusters }).selected;
  const everybody = decideFor();
  if ((result.placement.spec?.spreadPolicy?.spreadConstraints ?? []).length > 0)
    return { selected: decideFor, needed: (cluster) => leastNeeded(cluster, everybody, decideFor) };
  // Without constraints on spread a shorter selection is the beginning of a longer one.
  const selected = (numberOfClusters: number | undefined) => everybody.slice(0, numberOfClusters);
  const needed = (cluster: string) => everybody.indexOf(cluster) + 1 || undefined;
  return { selected, needed };
}

/** Decides the placement again after changes of it and of its bindings. */
export function retryWith({ result, retry }: DecidedPlacement, edits: Fix): DecidedPlacement {
  const bound = edits.flatMap((edit) => (edit.kind === 'bind-cluster-set' ? [edit.clusterSet] : []));
  const edited = edits.reduce(
    (placement, edit) => ('placement' in edit ? placementAfter(placement, edit) : placement),
    result.placement,
  );
  return retry(edited, bound);
}

/** Under spread constraints clusters are taken one at a time, so who is taken of n is taken of n + 1 as well. */
function leastNeeded(
  cluster: string,
  everybody: readonly string[],
  decideFor: (numberOfClusters: number) => readonly string[],
): number | undefined {
  if (!everybody.includes(cluster)) return undefined;
  let [few, enough] = [0, everybody.length];
  while (enough - few > 1) {
    const middle = Math.floor((few + enough) / 2);
    if (decideFor(middle).includes(cluster)) enough = middle;
    else few = middle;
  }
  return enough;
}

/** For fixes and changes alike: nothing but the cluster itself is touched. */
export function isOfCluster(change: WorldChange): boolean {
  return 'cluster' in change;
}

/** A higher (or, with a negative weight, lower) add-on score, when one within its limits is enough. */
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

/** Who was there before and is not after. */
export function missing(before: readonly string[], after: readonly string[]): readonly string[] {
  const kept = new Set(after);
  return before.filter((name) => !kept.has(name));
}
