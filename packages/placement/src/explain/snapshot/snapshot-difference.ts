import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { ObjectMeta } from '@berth/kube/model/object-meta';
import { formatRef } from '@berth/kube/model/object-ref';
import type { Snapshot } from '../../snapshot/snapshot.ts';

/** One object that differs between two snapshots. */
export interface SnapshotDifference {
  /** `ManagedCluster cluster1` */
  readonly object: string;
  /** The cluster, for a ManagedCluster and for an object in the namespace of a cluster. */
  readonly cluster: string | undefined;
  readonly kind: string;
  /** The later snapshot with this one object reverted. */
  readonly undo: (after: Snapshot) => Snapshot;
}

type ListName = 'clusters' | 'placements' | 'clusterSets' | 'bindings' | 'scores';

const LISTS: readonly { readonly list: ListName; readonly kind: string }[] = [
  { list: 'clusters', kind: 'ManagedCluster' },
  { list: 'placements', kind: 'Placement' },
  { list: 'clusterSets', kind: 'ManagedClusterSet' },
  { list: 'bindings', kind: 'ManagedClusterSetBinding' },
  { list: 'scores', kind: 'AddOnPlacementScore' },
];

interface AnyObject {
  readonly metadata: ObjectMeta;
}

/**
 * Objects added, removed or changed between two snapshots. Decisions are not compared, since they
 * follow from the other objects.
 */
export function snapshotDifferences(before: Snapshot, after: Snapshot): readonly SnapshotDifference[] {
  return LISTS.flatMap(({ list, kind }) =>
    listDifferences({ before: before[list], after: after[list] }, list, kind),
  );
}

function listDifferences(
  snapshots: { readonly before: readonly AnyObject[]; readonly after: readonly AnyObject[] },
  list: ListName,
  kind: string,
): readonly SnapshotDifference[] {
  if (snapshots.before === snapshots.after) return [];
  const known = COMPARED.get(snapshots.after);
  if (known?.before === snapshots.before) return known.differences;
  const differences = compareLists(snapshots, list, kind);
  COMPARED.set(snapshots.after, { before: snapshots.before, differences });
  return differences;
}

type Objects = readonly AnyObject[];

/** The last comparison of each later list. The moves of one plan compare the same lists. */
const COMPARED = new WeakMap<
  Objects,
  { readonly before: Objects; readonly differences: readonly SnapshotDifference[] }
>();

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
