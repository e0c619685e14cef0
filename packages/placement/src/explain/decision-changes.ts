import type { Snapshot } from '../snapshot/snapshot.ts';
import { clusterVerdict } from './verdict/cluster-verdict.ts';
import type { DecidedPlacement } from './verdict/cluster-verdict.ts';
import { CauseTrials } from './verdict/cause-trials.ts';
import type { ClusterVerdict, DecisionChange, DecisionChanges } from './verdict/explanation.ts';
import { refusalText } from './text/refusal-text.ts';
import { findCluster } from './snapshot/snapshot-lookup.ts';
import { type DecisionDifference, decisionDifferences } from './decision-differences.ts';
import type { SnapshotDifference } from './snapshot/snapshot-difference.ts';
import { snapshotDifferences } from './snapshot/snapshot-difference.ts';

export interface ChangeSubject {
  readonly snapshot: Snapshot;
  readonly decided: DecidedPlacement;
  /** Clusters of the previous decision. */
  readonly before: readonly string[];
  /** The snapshot of that decision, if known; without it no causes are found. */
  readonly snapshotBefore?: Snapshot | undefined;
  /** `namespace/name` of each placement that exists; undefined: unknown. */
  readonly existingPlacements?: ReadonlySet<string> | undefined;
  /** Shared by explanations of the same two snapshots, which then cost less. */
  readonly trials?: CauseTrials | undefined;
}

/** Maximum number of other decisions named as the cause when only several together cause a move. */
const MAX_NAMED = 5;
/** With more changed objects than this, they are not reverted one by one. */
const MAX_UNDONE = 100;

/**
 * What moved since the previous decision, why, and which object caused it. An object is the cause
 * if reverting its change alone reverts the move. This is found by deciding again, not derived from
 * fields.
 */
export function decisionChanges(subject: ChangeSubject): DecisionChanges {
  const { decided, before } = subject;
  const { selected } = decided.result;
  const [old, present] = [new Set(before), new Set(selected)];
  const gained = selected.filter((name) => !old.has(name));
  const lost = before.filter((name) => !present.has(name));
  const causes =
    gained.length + lost.length === 0
      ? new Map<string, readonly string[]>()
      : findCauses(subject, [...gained, ...lost]);
  const change = (cluster: string): DecisionChange => {
    const verdict = clusterVerdict(decided, cluster, findCluster(subject.snapshot, cluster));
    const points = 'score' in verdict ? { points: verdict.score.total } : {};
    return { cluster, because: becauseOf(verdict), causes: causes.get(cluster) ?? [], ...points };
  };
  return { gained: gained.map(change), lost: lost.map(change) };
}

function becauseOf(verdict: ClusterVerdict): string {
  return verdict.kind === 'selected'
    ? `rank ${verdict.score.rank} of ${verdict.score.of} with ${verdict.score.total} points`
    : refusalText(verdict);
}

function findCauses(
  { snapshot, snapshotBefore, decided, before, existingPlacements, trials: shared }: ChangeSubject,
  moved: readonly string[],
): Map<string, readonly string[]> {
  if (snapshotBefore === undefined) return new Map();
  const { namespace = '', name } = decided.result.placement.metadata;
  const placement = `Placement ${namespace}/${name}`;
  // Other placements are causes by their decisions.
  const earlier = { ...snapshotBefore, placements: placementsNamed(snapshotBefore, namespace, name) };
  const objects = relevant(snapshotDifferences(earlier, snapshot), moved, placement);
  // Decisions of other placements are inputs of this one, although other changes cause them.
  const trials = shared ?? new CauseTrials();
  const own = `${namespace}/${name}`;
  const decisions = selectsAllThatPass(decided)
    ? []
    : decisionDifferences(snapshotBefore, snapshot, { own, existingPlacements, readers: trials })
        .toSorted((a, b) => Number(touches(b, moved)) - Number(touches(a, moved)))
        .slice(0, Math.max(0, MAX_UNDONE - objects.length));
  const published = trials.later.read(snapshot.decisions).clusters;
  const selectedAfter = (
    start: Snapshot,
    reverted: readonly Pick<DecisionDifference, 'owner' | 'earlier'>[] = [],
  ): readonly string[] => {
    const alone = onlyPlacement(start, namespace, name);
    const lists = new Map(reverted.map(({ owner, earlier }) => [owner, earlier]));
    return alone === undefined ? [] : trials.selected(alone, published, lists);
  };
  const tried = [
    ...objects.map((difference) => ({ difference, selected: selectedAfter(difference.undo(snapshot)) })),
    ...decisions.map((difference) => ({ difference, selected: selectedAfter(snapshot, [difference]) })),
  ];
  const withoutDecisions = decisions.length > 1 ? selectedAfter(snapshot, decisions) : [];
  return new Map(
    moved.map((cluster) => {
      const causes = tried.filter(({ selected }) => selected.includes(cluster) === before.includes(cluster));
      // If several changes are each sufficient, those of the cluster and of the placement are
      // named.
      const own = tried.filter(
        ({ difference }) => difference.cluster === cluster || difference.object === placement,
      );
      const isByDecisions =
        decisions.length > 1 && withoutDecisions.includes(cluster) === before.includes(cluster);
      if (causes.length > 0 || own.length > 0 || !isByDecisions)
        return [cluster, (causes.length > 0 ? causes : own).map(({ difference }) => difference.object)];
      const together = decisions.filter(({ moved: clusters }) => clusters.has(cluster));
      return [
        cluster,
        (together.length > 0 ? together : decisions).slice(0, MAX_NAMED).map(({ object }) => object),
      ];
    }),
  );
}

/**
 * Decisions of other placements change only scores, and scores choose among the clusters that pass all filters. Where all
 * of them are selected, such a decision is no cause. The limits of a spread may refuse others if the scores differ.
 */
function selectsAllThatPass({ result, trace }: DecidedPlacement): boolean {
  return result.spread === undefined && result.selected.length === trace.feasibleCount;
}

function touches({ moved }: DecisionDifference, clusters: readonly string[]): boolean {
  return clusters.some((cluster) => moved.has(cluster));
}

/** Changes of the moved clusters and of the placement first, where the cause most likely is. */
function relevant(
  differences: readonly SnapshotDifference[],
  moved: readonly string[],
  placement: string,
): readonly SnapshotDifference[] {
  const priority = (one: SnapshotDifference): number => {
    if (one.object === placement) return 0;
    return one.cluster !== undefined && moved.includes(one.cluster) ? 0 : 1;
  };
  return differences
    .filter(({ kind, object }) => kind !== 'Placement' || object === placement)
    .toSorted((a, b) => priority(a) - priority(b))
    .slice(0, MAX_UNDONE);
}

/** Undefined if the placement did not exist then. */
function onlyPlacement(snapshot: Snapshot, namespace: string, name: string): Snapshot | undefined {
  const placements = placementsNamed(snapshot, namespace, name);
  return placements.length === 0 ? undefined : { ...snapshot, placements };
}

function placementsNamed(snapshot: Snapshot, namespace: string, name: string): Snapshot['placements'] {
  return snapshot.placements.filter(
    ({ metadata }) => metadata.name === name && (metadata.namespace ?? '') === namespace,
  );
}
