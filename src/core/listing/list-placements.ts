import type { Placement } from '@berth/ocm/kind/placement';
import { PLACEMENT_LABEL, type PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Condition } from '@berth/kube/model/object-meta';
import { HELD_CONDITION } from '@berth/placement/explain/verdict/names-on-placements';
import { findCondition } from '@berth/kube/model/condition-list';
import type { Listed } from './listed.ts';

/**
 * The columns of `clusteradm get placements`, with its spelling, which scripts read. The status and the reason are those of
 * PlacementSatisfied; of the first condition, as in clusteradm, while there is none. One more column has the reasons of holds,
 * where there is a hold. Names have their namespace where the placements are of several.
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
  const holds = placements.map(({ status }) => heldReason(status?.conditions));
  const areHeld = holds.some((reason) => reason !== '');
  return {
    header: ['NAME', 'STATUS', 'REASON', 'SELETEDCLUSTERS', ...(areHeld ? ['HELD'] : [])],
    rows: placements.map(({ metadata, status }, at) => {
      const conditions = status?.conditions;
      const shown = findCondition(conditions, 'PlacementSatisfied') ?? conditions?.[0];
      const selected = clusters.get(namespacedName(metadata)) ?? [];
      return [
        areInSeveralNamespaces ? namespacedName(metadata) : metadata.name,
        shown?.status ?? '',
        shown?.reason ?? '',
        `[${[...selected].sort().join(',')}]`,
        ...(areHeld ? [holds[at] ?? ''] : []),
      ];
    }),
  };
}

function heldReason(conditions: readonly Condition[] | undefined): string {
  const held = findCondition(conditions, HELD_CONDITION);
  return held?.status === 'True' ? (held.reason ?? '') : '';
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
