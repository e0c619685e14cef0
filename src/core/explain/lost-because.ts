import type { Placement } from '../model/kind/placement.ts';
import type { World } from '../snapshot/world.ts';
import { clusterVerdict } from './verdict/cluster-verdict.ts';
import { decideOne } from './verdict/decide.ts';
import { refusalText } from './words/refusal-text.ts';
import { clusterNamed } from './world/world-lookup.ts';

export interface LostClusters {
  /** `tainted maintenance` */
  readonly because: string;
  readonly clusters: readonly string[];
}

/** What a cluster loses to is not seen without the others. */
const OTHERS_COME_FIRST = 'others come first';

/**
 * Why a placement does not select these clusters, by what is true of each of them by itself: only they are decided again, so that the costs are
 * those of a few clusters however large the fleet is. One that passes every filter lost to others, by rank or spread.
 */
export function lostBecause(
  world: World,
  placement: Placement,
  lost: readonly string[],
): readonly LostClusters[] {
  const names = new Set(lost);
  const few: World = {
    ...world,
    placements: [placement],
    clusters: world.clusters.filter(({ metadata }) => names.has(metadata.name)),
    scores: [],
    decisions: [],
  };
  const decided = decideOne(few);
  if (decided === undefined) return [];
  const groups = new Map<string, string[]>();
  for (const cluster of lost) {
    const verdict = clusterVerdict(decided, cluster, clusterNamed(few, cluster));
    const because =
      verdict.kind === 'selected' || verdict.kind === 'outranked' || verdict.kind === 'spread'
        ? OTHERS_COME_FIRST
        : refusalText(verdict);
    groups.set(because, [...(groups.get(because) ?? []), cluster]);
  }
  return [...groups].map(([because, clusters]) => ({ because, clusters }));
}
