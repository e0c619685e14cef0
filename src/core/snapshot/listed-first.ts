import type { Placement } from '../model/placement.ts';
import { namespacedName } from '../model/object-ref.ts';

/** Lists some placements (`namespace/name`) before the others; among both the order stays. */
export function listedFirst(
  placements: readonly Placement[],
  first: ReadonlySet<string>,
): readonly Placement[] {
  if (first.size === 0) return placements;
  const [ahead, others]: [Placement[], Placement[]] = [[], []];
  for (const placement of placements)
    (first.has(namespacedName(placement.metadata)) ? ahead : others).push(placement);
  return [...ahead, ...others];
}
