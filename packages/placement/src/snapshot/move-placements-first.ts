import type { Placement } from '@berth/ocm/kind/placement';
import { namespacedName } from '@berth/kube/model/object-ref';

/** Lists some placements (`namespace/name`) before the others; among both the order stays. */
export function movePlacementsFirst(
  placements: readonly Placement[],
  first: ReadonlySet<string>,
): readonly Placement[] {
  if (first.size === 0) return placements;
  const names = new Set([...first].map((key) => key.slice(key.lastIndexOf('/') + 1)));
  const [ahead, others]: [Placement[], Placement[]] = [[], []];
  for (const placement of placements) {
    const { metadata } = placement;
    // Making a key of each would cost more than all the rest.
    const isFirst = names.has(metadata.name) && first.has(namespacedName(metadata));
    (isFirst ? ahead : others).push(placement);
  }
  return [...ahead, ...others];
}
