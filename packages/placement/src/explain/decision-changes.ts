import type { ObjectMeta } from '@berth/kube/model/object-meta';
import { formatRef } from '@berth/kube/model/object-ref';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { PublishedClusters } from '../prior/published-clusters.ts';
import { sameClusters } from '../result/cluster-change.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { findCluster } from './snapshot/snapshot-lookup.ts';
import { refusalText } from './text/refusal-text.ts';
import { CauseTrials } from './verdict/resumable-decider.ts';
import { clusterVerdict, type DecidedPlacement } from './verdict/cluster-verdict.ts';
import type { ClusterVerdict, DecisionChange, DecisionChanges } from './verdict/explanation.ts';

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

interface DecisionDifference extends Omit<SnapshotDifference, 'undo'> {
  /** `namespace/name` of the placement. */
  readonly owner: string;
  /** Its earlier clusters; undefined if it had none published. */
  readonly earlier: readonly string[] | undefined;
  /** Clusters that the placement gained or lost. */
  readonly moved: ReadonlySet<string>;
}

interface DecisionDifferenceOptions {
  /** `namespace/name` of the placement that is explained. */
  readonly own: string;
  /** `namespace/name` of each placement that exists in the later snapshot; undefined: unknown. */
  readonly existingPlacements: ReadonlySet<string> | undefined;
  /** Readers to reuse from an earlier call; absent: new ones. */
  readonly readers?: { readonly earlier: PublishedClusters; readonly later: PublishedClusters } | undefined;
}

/**
 * Other placements whose decisions differ between two snapshots. They can be causes because Balance
 * counts them.
 */
function decisionDifferences(
  before: Snapshot,
  after: Snapshot,
  { own, existingPlacements, readers }: DecisionDifferenceOptions,
): readonly DecisionDifference[] {
  const old = (readers?.earlier ?? new PublishedClusters()).read(before.decisions).clusters;
  const present = (readers?.later ?? new PublishedClusters()).read(after.decisions).clusters;
  const owners = [...new Set([...old.keys(), ...present.keys()])].filter(
    (owner) => owner !== '' && owner !== own,
  );
  return owners.flatMap((owner) => {
    const [was = [], is = []] = [old.get(owner), present.get(owner)];
    const moved = movedBetween(was, is);
    if (moved === undefined) return [];
    const isDeleted = existingPlacements !== undefined && !existingPlacements.has(owner);
    return [
      {
        object: `Placement ${owner} (${wordsFor({ isDeleted, isNew: !old.has(owner) })})`,
        cluster: undefined,
        kind: 'PlacementDecision',
        owner,
        earlier: old.get(owner),
        moved,
      },
    ];
  });
}

interface Comparison {
  readonly was: readonly string[];
  readonly moved: ReadonlySet<string> | undefined;
}

/** The last comparison of each later list. The moves of one plan compare the same lists. */
const COMPARED_CLUSTERS = new WeakMap<readonly string[], Comparison>();

/** The names that are in exactly one of the lists; undefined if there are none. */
function movedBetween(was: readonly string[], is: readonly string[]): ReadonlySet<string> | undefined {
  if (was === is) return undefined;
  const known = COMPARED_CLUSTERS.get(is);
  if (known?.was === was) return known.moved;
  const moved = sameClusters(was, is) ? undefined : exchanged(was, is);
  COMPARED_CLUSTERS.set(is, { was, moved });
  return moved;
}

/** The names that are in exactly one of the lists. */
function exchanged(was: readonly string[], is: readonly string[]): ReadonlySet<string> {
  const [old, present] = [new Set(was), new Set(is)];
  return new Set([...was.filter((one) => !present.has(one)), ...is.filter((one) => !old.has(one))]);
}

function wordsFor({ isDeleted, isNew }: { readonly isDeleted: boolean; readonly isNew: boolean }): string {
  if (isDeleted) return 'deleted: its decisions no longer count';
  return isNew ? 'its first decisions count' : 'its decisions changed';
}

/** One object that differs between two snapshots. */
interface SnapshotDifference {
  /** `ManagedCluster cluster1` */
  readonly object: string;
  /** The cluster, for a ManagedCluster and for an object in the namespace of a cluster. */
  readonly cluster: string | undefined;
  readonly kind: string;
  /** The later snapshot with this one object reverted. */
  readonly undo: (after: Snapshot) => Snapshot;
}

type ListName = 'clusters' | 'placements' | 'clusterSets' | 'bindings' | 'scores';

interface AnyObject {
  readonly metadata: ObjectMeta;
}

const KIND_LISTS: readonly { readonly list: ListName; readonly kind: string }[] = [
  { list: 'clusters', kind: 'ManagedCluster' },
  { list: 'placements', kind: 'Placement' },
  { list: 'clusterSets', kind: 'ManagedClusterSet' },
  { list: 'bindings', kind: 'ManagedClusterSetBinding' },
  { list: 'scores', kind: 'AddOnPlacementScore' },
];

/**
 * Objects added, removed or changed between two snapshots. Decisions are not compared, since they
 * follow from the other objects.
 */
export function snapshotDifferences(before: Snapshot, after: Snapshot): readonly SnapshotDifference[] {
  return KIND_LISTS.flatMap(({ list, kind }) =>
    listDifferences({ before: before[list], after: after[list] }, list, kind),
  );
}

/** The last comparison of each later list. The moves of one plan compare the same lists. */
const COMPARED_LISTS = new WeakMap<
  Objects,
  { readonly before: Objects; readonly differences: readonly SnapshotDifference[] }
>();

function listDifferences(
  snapshots: { readonly before: readonly AnyObject[]; readonly after: readonly AnyObject[] },
  list: ListName,
  kind: string,
): readonly SnapshotDifference[] {
  if (snapshots.before === snapshots.after) return [];
  const known = COMPARED_LISTS.get(snapshots.after);
  if (known?.before === snapshots.before) return known.differences;
  const differences = compareLists(snapshots, list, kind);
  COMPARED_LISTS.set(snapshots.after, { before: snapshots.before, differences });
  return differences;
}

type Objects = readonly AnyObject[];

function compareLists(
  snapshots: { readonly before: Objects; readonly after: Objects },
  list: ListName,
  kind: string,
): readonly SnapshotDifference[] {
  // Most objects of a large fleet are the same in both.
  const [were, are] = [new Set(snapshots.before), new Set(snapshots.after)];
  const old = byKey(snapshots.before.filter((object) => !are.has(object)));
  const present = byKey(snapshots.after.filter((object) => !were.has(object)));
  const differences: SnapshotDifference[] = [];
  for (const key of new Set([...old.keys(), ...present.keys()])) {
    const was = old.get(key);
    const is = present.get(key);
    if (jsonEqual(was, is)) continue;
    const { name, namespace = '' } = (is ?? was)?.metadata ?? { name: key };
    // The moves of one plan undo the change in the same list.
    let reverted: { readonly from: Objects; readonly to: Objects } | undefined;
    const undo = (from: Objects): Objects => {
      if (reverted?.from !== from) reverted = { from, to: withObject(from, key, was) };
      return reverted.to;
    };
    differences.push({
      object: formatRef({ kind, namespace, name }),
      cluster: clusterOf(kind, name, namespace),
      kind,
      undo: (snapshot) => ({ ...snapshot, [list]: undo(snapshot[list]) }),
    });
  }
  return differences;
}

function clusterOf(kind: string, name: string, namespace: string): string | undefined {
  if (kind === 'ManagedCluster') return name;
  return kind === 'AddOnPlacementScore' ? namespace : undefined;
}

function byKey(objects: readonly AnyObject[]): Map<string, AnyObject> {
  return new Map(objects.map((object) => [keyOf(object), object]));
}

function keyOf({ metadata }: AnyObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

function withObject(
  list: readonly AnyObject[],
  key: string,
  object: AnyObject | undefined,
): readonly AnyObject[] {
  const others = list.filter((other) => keyOf(other) !== key);
  return object === undefined ? others : [...others, object];
}
