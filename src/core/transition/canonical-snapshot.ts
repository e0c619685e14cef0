import { compareText } from '@berth/runtime/text/compare-text';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Placement } from '@berth/ocm/kind/placement';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { decisionOwner } from '@berth/placement/prior/decision-owner';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';

/** The kinds of objects that own pages. */
const OWNERS = ['Placement', 'Namespace'];

/** A snapshot in its canonical order. */
export interface CanonicalSnapshot {
  readonly snapshot: Snapshot;
  /** `namespace/name` of each placement, at the same index. */
  readonly keys: readonly string[];
}

/**
 * The snapshot with its placements sorted by `namespace/name` and without the decisions of deleted
 * placements. The garbage collector of the hub deletes those decisions at an unknown time, and no
 * decision may depend on that time.
 * @param before an earlier snapshot with mostly the same objects; reusing its keys is faster than
 * making new ones
 */
export function canonicalSnapshot(start: Snapshot, before?: CanonicalSnapshot): CanonicalSnapshot {
  // The transition judges held results again.
  const snapshot = start.held === undefined ? start : { ...start, held: undefined };
  const { keys, areNew } = keysOf(snapshot.placements, before);
  const isInOrder = !areNew || keys.every((key, at) => at === 0 || (keys[at - 1] ?? '') <= key);
  if (!isInOrder) return canonicalSnapshot({ ...snapshot, placements: inOrder(snapshot.placements) });
  const decisions = withoutOrphans(snapshot.decisions, new Set(keys));
  return { snapshot: decisions === snapshot.decisions ? snapshot : { ...snapshot, decisions }, keys };
}

function keysOf(
  placements: readonly Placement[],
  before: CanonicalSnapshot | undefined,
): { readonly keys: readonly string[]; readonly areNew: boolean } {
  const known = before?.snapshot.placements ?? [];
  let areNew = known.length !== placements.length;
  const keys = placements.map((placement, at) => {
    if (known[at] === placement) return before?.keys[at] as string;
    const key = namespacedName(placement.metadata);
    areNew ||= key !== before?.keys[at];
    return key;
  });
  return areNew ? { keys, areNew } : { keys: before?.keys ?? keys, areNew };
}

function inOrder(placements: readonly Placement[]): readonly Placement[] {
  const keyed = placements.map((placement) => [namespacedName(placement.metadata), placement] as const);
  return keyed.sort(([a], [b]) => compareText(a, b)).map(([, placement]) => placement);
}

/** The garbage collector never deletes pages without an owner, so the snapshot keeps them. */
function withoutOrphans(
  decisions: readonly PlacementDecision[],
  keys: ReadonlySet<string>,
): readonly PlacementDecision[] {
  const isOrphan = (page: PlacementDecision): boolean => {
    if (!isOwned(page)) return false;
    const owner = decisionOwner(page);
    return owner !== undefined && !keys.has(owner);
  };
  return decisions.some(isOrphan) ? decisions.filter((page) => !isOrphan(page)) : decisions;
}

/**
 * Whether the page has an owner whose deletion deletes it. Pages of Berth have two owners: their
 * placement and their namespace. When the placement is deleted, the garbage collector removes its
 * owner reference, and the namespace remains.
 */
function isOwned({ metadata }: PlacementDecision): boolean {
  return metadata.ownerReferences?.some(({ kind }) => OWNERS.includes(kind)) === true;
}
