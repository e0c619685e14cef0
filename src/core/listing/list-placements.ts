import type { Placement } from '../model/kind/placement.ts';
import { PLACEMENT_LABEL, type PlacementDecision } from '../model/kind/placement-decision.ts';
import { namespacedName } from '../model/object-ref.ts';
import type { Listed } from './listed.ts';

/**
 * The columns of `clusteradm get placements`, with its spelling: the status and the reason are those of the first condition. Names
 * have their namespace where the placements are of several.
 * Source: open-cluster-management.io/clusteradm `pkg/cmd/get/placement`.
 *
 * @param decisions the pages of these placements, and perhaps of others
 */
export function listPlacements(
  placements: readonly Placement[],
  decisions: readonly PlacementDecision[],
): Listed {
  const areInSeveralNamespaces = new Set(placements.map(({ metadata }) => metadata.namespace)).size > 1;
  const clusters = clustersByPlacement(decisions);
  return {
    header: ['NAME', 'STATUS', 'REASON', 'SELETEDCLUSTERS'],
    rows: placements.map(({ metadata, status }) => {
      const [first] = status?.conditions ?? [];
      const selected = clusters.get(namespacedName(metadata)) ?? [];
      return [
        areInSeveralNamespaces ? namespacedName(metadata) : metadata.name,
        first?.status ?? '',
        first?.reason ?? '',
        `[${[...selected].sort().join(',')}]`,
      ];
    }),
  };
}

function clustersByPlacement(
  decisions: readonly PlacementDecision[],
): ReadonlyMap<string, readonly string[]> {
  const clusters = new Map<string, string[]>();
  for (const { metadata, status } of decisions) {
    const { namespace, labels } = metadata;
    const key = namespacedName({ namespace, name: labels?.[PLACEMENT_LABEL] ?? '' });
    const names = status?.decisions?.map(({ clusterName }) => clusterName) ?? [];
    clusters.set(key, [...(clusters.get(key) ?? []), ...names]);
  }
  return clusters;
}
