import type { Placement } from '@berth/ocm/kind/placement';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { clusterVerdict } from './verdict/cluster-verdict.ts';
import { decideFirstPlacement } from './verdict/decide-in-snapshot.ts';
import { refusalText } from './text/refusal-text.ts';
import { findCluster } from './snapshot/snapshot-lookup.ts';

export interface LostClusters {
  /** `tainted maintenance` */
  readonly because: string;
  readonly clusters: readonly string[];
}

/** Which clusters rank higher is not known here, because the others are not decided. */
const OTHERS_COME_FIRST = 'others come first';

/**
 * Why a placement no longer selects these clusters. Only these clusters are decided again, so that
 * the cost does not depend on the size of the fleet. A cluster that passes every filter lost to
 * others by rank or spread.
 */
export function explainLostClusters(
  snapshot: Snapshot,
  placement: Placement,
  lost: readonly string[],
): readonly LostClusters[] {
  const names = new Set(lost);
  const few: Snapshot = {
    ...snapshot,
    placements: [placement],
    clusters: snapshot.clusters.filter(({ metadata }) => names.has(metadata.name)),
    scores: [],
    decisions: [],
  };
  const decided = decideFirstPlacement(few);
  if (decided === undefined) return [];
  const groups = new Map<string, string[]>();
  for (const cluster of lost) {
    const verdict = clusterVerdict(decided, cluster, findCluster(few, cluster));
    const because =
      verdict.kind === 'selected' || verdict.kind === 'outranked' || verdict.kind === 'spread'
        ? OTHERS_COME_FIRST
        : refusalText(verdict);
    groups.set(because, [...(groups.get(because) ?? []), cluster]);
  }
  return [...groups].map(([because, clusters]) => ({ because, clusters }));
}
