import type { Placement } from '@berth/ocm/kind/placement';
import { namespacedName } from '@berth/kube/model/object-ref';
import { decisionOwner } from '@berth/placement/prior/decision-owner';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';

/**
 * The published pages without those of placements that do not exist: the hub deletes these pages. A placement of the
 * same name that the change adds starts without them.
 * @param placements those of the hub, and those that Git declares before the change
 */
export function lastingDecisions(
  pages: Snapshot['decisions'],
  placements: readonly Placement[],
): Snapshot['decisions'] {
  const keys = new Set(placements.map(({ metadata }) => namespacedName(metadata)));
  const lasts = (page: Snapshot['decisions'][number]): boolean => {
    const owner = decisionOwner(page);
    return owner === undefined || keys.has(owner);
  };
  // Caches are keyed by the list, so an unchanged list is returned as it is.
  return pages.every(lasts) ? pages : pages.filter(lasts);
}
