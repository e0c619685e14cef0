import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { namespacedName } from '@berth/kube/model/object-ref';
import { clustersOfPage, decisionOwner } from '@berth/placement/prior/published-clusters';
import { type ClusterChange, clusterChange } from '@berth/placement/result/cluster-change';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { MovedPlacement, Transition } from './transition.ts';

/** The change that a transition makes to one placement. Plain JSON. */
export interface PlacementMove extends ClusterChange {
  /** `namespace/name` */
  readonly placement: string;
  readonly uid: string;
}

/** The name of the ConfigMap, beside the Lease of the leader, in which the next leader finds the changes. */
export function movesConfigMap(lease: string): string {
  return `${lease}-moves`;
}

/**
 * A transition that names more clusters than this is not stored, because comparing and writing it
 * would delay every publication.
 */
const MAX_NAMES = 200_000;

/**
 * The changes that a transition will publish. They are stored before its first write. If the
 * controller is killed between two writes, some placements are published and others are not.
 * Decisions depend on each other, so a new transition from that state may have another result. With
 * the stored changes the next process makes the rest.
 * @returns empty when no placement changes, or when the changes name more than `MAX_NAMES` clusters
 */
export function placementMovesOf(moved: Transition['moved']): readonly PlacementMove[] {
  let names = 0;
  for (const { before, after } of moved.values()) names += before.length + after.length;
  if (names > MAX_NAMES) return [];
  return [...moved].map(([placement, { uid, before, after }]) => ({
    placement,
    uid,
    ...clusterChange(before, after),
  }));
}

/**
 * Changes that an earlier process decided, as this one goes on with them.
 * @returns those that are not completely published, by `namespace/name` of the placement
 */
export function movesUnderWay(
  snapshot: Snapshot,
  moves: readonly PlacementMove[],
): ReadonlyMap<string, MovedPlacement> {
  const underWay = new Map<string, MovedPlacement>();
  if (moves.length === 0) return underWay;
  const { uids, published } = placementsOf(snapshot, moves);
  for (const { placement, uid, added, removed } of moves) {
    const now = published.get(placement) ?? new Set();
    if (uids.get(placement) !== uid || isMade(now, { added, removed })) continue;
    const after = undone(now, { added: removed, removed: added });
    underWay.set(placement, { uid, before: undone(now, { added, removed }), after });
  }
  return underWay;
}

/** The clusters before the change: `now` without the added ones, and with the removed ones. */
function undone(now: ReadonlySet<string>, { added, removed }: ClusterChange): readonly string[] {
  const wereAdded = new Set(added);
  return [...new Set([...[...now].filter((name) => !wereAdded.has(name)), ...removed])];
}

function isMade(now: ReadonlySet<string>, { added, removed }: ClusterChange): boolean {
  return added.every((name) => now.has(name)) && !removed.some((name) => now.has(name));
}

/** The uids of all placements, and what those that move list now, by `namespace/name`. */
function placementsOf(snapshot: Snapshot, moves: readonly PlacementMove[]) {
  const uids = new Map(snapshot.placements.map(({ metadata }) => [namespacedName(metadata), metadata.uid]));
  const placements = new Set(moves.map(({ placement }) => placement));
  const published = new Map<string, Set<string>>();
  const put = (owner: string, page: PlacementDecision): void => {
    const known = published.get(owner) ?? new Set<string>();
    for (const name of clustersOfPage(page)) known.add(name);
    published.set(owner, known);
  };
  for (const page of snapshot.decisions) {
    const owner = decisionOwner(page);
    if (owner !== undefined && placements.has(owner)) put(owner, page);
  }
  return { uids, published };
}
