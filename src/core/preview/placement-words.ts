import type { HeldAddOn, Plan, PlacementPlan } from './plan.ts';
import { formatRef } from '@berth/kube/model/object-ref';

/* What happens to a placement, as a sentence for a person who reviews the change. */

/** Writes a list of clusters. It is never empty. */
export type WriteNames = (clusters: readonly string[]) => string;

/** `runs on c3, adds c1`; `moves from c1 to c3, stays on c2`; `leaves c1, then runs nowhere`. */
export function movesText(plan: PlacementPlan, names: WriteNames): string {
  const { gone, come, stay } = clustersOf(plan);
  if (plan.change === 'deleted')
    return gone.length === 0 ? 'is deleted' : `is deleted, leaves ${names(gone)}`;
  if (come.length === 0) {
    const rest = stay.length === 0 ? undefined : `stays on ${names(stay)}`;
    if (gone.length === 0) return rest ?? 'runs nowhere';
    return `leaves ${names(gone)}, ${rest ?? 'then runs nowhere'}`;
  }
  if (gone.length === 0)
    return stay.length === 0 ? `starts on ${names(come)}` : `runs on ${names(stay)}, adds ${names(come)}`;
  return `moves from ${names(gone)} to ${names(come)}${stay.length === 0 ? '' : `, stays on ${names(stay)}`}`;
}

/** What the merge does. Of a held change: where it stays, the clusters first that it would leave, and what would happen. */
export function mergeMovesText(plan: PlacementPlan, isApproved: boolean, names: WriteNames): string {
  const moves = movesText(plan, names);
  if (plan.held === undefined || isApproved) return moves;
  const leaving = plan.removed.map(({ cluster }) => cluster);
  const now = [...leaving, ...(plan.before?.clusters ?? []).filter((cluster) => !leaving.includes(cluster))];
  return `${now.length === 0 ? 'still runs nowhere' : `stays on ${names(now)}`}; if approved: ${moves}`;
}

/** Of a placement, before and after. */
interface PlannedClusters {
  readonly after?: { readonly clusters: readonly string[] } | undefined;
  readonly added: readonly { readonly cluster: string }[];
  readonly removed: readonly { readonly cluster: string }[];
}

/**
 * What an approval of a held change does: `takes team-a/web from c2; it then runs nowhere`. Goes on after `Approving`.
 * @param subject the name of the placement as text
 */
export function approvalEffect(plan: PlannedClusters, subject: string, names: WriteNames): string {
  const { gone, come, stay } = clustersOf(plan);
  const after = [...stay, ...come];
  const then = after.length === 0 ? 'it then runs nowhere' : `it then runs on ${names(after)}`;
  if (gone.length === 0)
    return come.length === 0
      ? `changes no cluster of ${subject}`
      : `adds ${subject} on ${names(come)}; ${then}`;
  const what = come.length === 0 ? `takes ${subject} from` : `moves ${subject} away from`;
  return `${what} ${names(gone)}; ${then}`;
}

/** What an approval of held deletions does. Goes on after `Approving`. */
export function deletionsEffect({ objects, deletionsHeld }: Plan, names: WriteNames): string {
  const held = objects.filter((object) => object.held === true).map(({ ref }) => formatRef(ref));
  // The objects do not say which source they are of.
  if (held.length === 0 || deletionsHeld.length > 1) return 'deletes these objects from the hub';
  return `deletes ${names(held)} from the hub`;
}

/** What the approval of a held add-on does. Goes on after `Approving`. */
export function addOnEffect({ addOn, clusters }: HeldAddOn, names: WriteNames): string {
  return `takes add-on ${addOn} from ${names(clusters)}, with its access to the hub`;
}

interface PlacedClusters {
  readonly gone: readonly string[];
  readonly come: readonly string[];
  readonly stay: readonly string[];
}

function clustersOf({ after, added, removed }: PlannedClusters): PlacedClusters {
  const come = added.map(({ cluster }) => cluster);
  const isNew = new Set(come);
  return {
    gone: removed.map(({ cluster }) => cluster),
    come,
    stay: (after?.clusters ?? []).filter((cluster) => !isNew.has(cluster)),
  };
}
