import { namespacedName } from '../model/object-ref.ts';
import type { Placement } from '../model/placement.ts';
import type { PlacementDecision } from '../model/placement-decision.ts';
import { decisionOwner } from '../placement/decision-owner.ts';
import type { World } from '../snapshot/world.ts';

/** Lists that are in order. */
const sorted = new WeakSet<readonly Placement[]>();

/**
 * The world with its placements in the order of `namespace/name`, and without the decisions of placements that are gone: the garbage
 * collector of the hub removes them, sooner or later, and no decision may depend on when.
 */
export function canonicalWorld(world: World): World {
  const placements = inOrder(world.placements);
  const decisions = withoutOrphans(world.decisions, placements);
  return placements === world.placements && decisions === world.decisions
    ? world
    : { ...world, placements, decisions };
}

function inOrder(placements: readonly Placement[]): readonly Placement[] {
  if (sorted.has(placements)) return placements;
  const keyed = placements.map((placement) => [namespacedName(placement.metadata), placement] as const);
  const isInOrder = keyed.every(([key], at) => at === 0 || (keyed[at - 1]?.[0] ?? '') <= key);
  const list = isInOrder
    ? placements
    : keyed.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, placement]) => placement);
  sorted.add(list);
  return list;
}

/** Pages without an owner stay on the hub whatever happens to their placement. */
function withoutOrphans(
  decisions: readonly PlacementDecision[],
  placements: readonly Placement[],
): readonly PlacementDecision[] {
  const keys = new Set(placements.map(({ metadata }) => namespacedName(metadata)));
  const isOrphan = (page: PlacementDecision): boolean => {
    const owner = decisionOwner(page);
    return owner !== undefined && !keys.has(owner) && isOwned(page);
  };
  return decisions.some(isOrphan) ? decisions.filter((page) => !isOrphan(page)) : decisions;
}

function isOwned({ metadata }: PlacementDecision): boolean {
  return metadata.ownerReferences?.some(({ kind }) => kind === 'Placement') === true;
}
