import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import type { ManagedClusterSet, ManagedClusterSetBinding } from '@berth/ocm/kind/managed-cluster-set';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Placement } from '@berth/ocm/kind/placement';
import type { ClusterIndex } from '../snapshot/cluster-index.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/**
 * The changes of a snapshot. An object replaces the object with the same name. Everything else
 * stays as it is.
 */
export interface SnapshotDelta {
  /** RFC 3339 */
  readonly now?: string | undefined;
  readonly clusters?: readonly ManagedCluster[] | undefined;
  readonly removedClusters?: readonly string[] | undefined;
  /** Changed and new placements. A placement with a new key is scheduled after all others. */
  readonly placements?: readonly Placement[] | undefined;
  /** `namespace/name`. The decisions of these placements are removed too. */
  readonly removedPlacements?: readonly string[] | undefined;
  readonly scores?: readonly AddOnPlacementScore[] | undefined;
  /** `namespace/name` */
  readonly removedScores?: readonly string[] | undefined;
  /** All sets, if any of them changed. `bindings` has the same for bindings. */
  readonly clusterSets?: readonly ManagedClusterSet[] | undefined;
  readonly bindings?: readonly ManagedClusterSetBinding[] | undefined;
}

/** The difference between two snapshots, without decisions. Objects are compared by identity. */
export function diffSnapshots(before: Snapshot, after: Snapshot): SnapshotDelta {
  const clusters = changedObjects(before.clusters, after.clusters);
  const placements = changedObjects(before.placements, after.placements);
  const scores = changedObjects(before.scores, after.scores);
  const sets = changedObjects(before.clusterSets, after.clusterSets);
  const bindings = changedObjects(before.bindings, after.bindings);
  return {
    now: after.now,
    clusters: clusters.changed,
    removedClusters: clusters.removed.map((key) => key.slice(key.indexOf('/') + 1)),
    placements: placements.changed,
    removedPlacements: placements.removed,
    scores: scores.changed,
    removedScores: scores.removed,
    clusterSets: isEmpty(sets) ? undefined : after.clusterSets,
    bindings: isEmpty(bindings) ? undefined : after.bindings,
  };
}

interface Changes<T> {
  readonly changed: readonly T[];
  /** `namespace/name` */
  readonly removed: readonly string[];
}

function changedObjects<T extends Named>(before: readonly T[], after: readonly T[]): Changes<T> {
  const { were, are } = unpaired(before, after);
  const known = new Set(were);
  const changed = are.filter((one) => !known.has(one));
  if (changed.length === 0 && were.length === are.length) return { changed, removed: [] };
  const present = new Set(are.map(keyOf));
  return { changed, removed: were.map(keyOf).filter((key) => !present.has(key)) };
}

/**
 * The objects of two lists without those at the same place in both. Places are aligned again after
 * each insertion, removal or move. The remaining lists are usually short, so finding the changes
 * costs one comparison per object.
 */
function unpaired<T>(
  before: readonly T[],
  after: readonly T[],
): { readonly were: readonly T[]; readonly are: readonly T[] } {
  const [were, are]: [T[], T[]] = [[], []];
  let [i, j] = before === after ? [before.length, after.length] : [0, 0];
  while (i < before.length && j < after.length) {
    if (before[i] === after[j]) [i, j] = [i + 1, j + 1];
    else if (before[i] === after[j + 1]) are.push(after[j++] as T);
    else if (before[i + 1] === after[j]) were.push(before[i++] as T);
    else {
      were.push(before[i++] as T);
      are.push(after[j++] as T);
    }
  }
  return { were: [...were, ...before.slice(i)], are: [...are, ...after.slice(j)] };
}

function isEmpty({ changed, removed }: Changes<Named>): boolean {
  return changed.length + removed.length === 0;
}

/**
 * Whether clusters are added or removed, or sets or bindings change. The indexes of a fleet depend
 * on these.
 */
export function changesIndexStructure(delta: SnapshotDelta, clusterIndex: ClusterIndex): boolean {
  const { clusters = [], removedClusters = [], clusterSets, bindings } = delta;
  return (
    clusterSets !== undefined ||
    bindings !== undefined ||
    removedClusters.some((name) => clusterIndex.numberOf(name) !== undefined) ||
    clusters.some(({ metadata }) => clusterIndex.numberOf(metadata.name) === undefined)
  );
}

/** Whether only the time changed. */
export function changesTimeOnly({ now: _now, clusterSets, bindings, ...lists }: SnapshotDelta): boolean {
  const isSame = clusterSets === undefined && bindings === undefined;
  return isSame && Object.values(lists).every((list) => list === undefined || list.length === 0);
}

type Named = { readonly metadata: { readonly name: string; readonly namespace?: string | undefined } };

/** The snapshot after a delta. Its decisions are unchanged. */
export function applySnapshotDelta(snapshot: Snapshot, delta: SnapshotDelta): Snapshot {
  return {
    now: delta.now ?? snapshot.now,
    placements: replaced(snapshot.placements, delta.placements, delta.removedPlacements),
    clusters: replaced(
      snapshot.clusters,
      delta.clusters,
      delta.removedClusters?.map((name) => `/${name}`),
    ),
    clusterSets: delta.clusterSets ?? snapshot.clusterSets,
    bindings: delta.bindings ?? snapshot.bindings,
    decisions: snapshot.decisions,
    scores: replaced(snapshot.scores, delta.scores, delta.removedScores),
  };
}

function replaced<T extends Named>(
  items: readonly T[],
  changed: readonly T[] = [],
  removed: readonly string[] = [],
): readonly T[] {
  if (changed.length === 0 && removed.length === 0) return items;
  const byKey = new Map(items.map((item) => [keyOf(item), item]));
  for (const key of removed) byKey.delete(key);
  for (const item of changed) byKey.set(keyOf(item), item);
  return [...byKey.values()];
}

function keyOf({ metadata }: Named): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}
