import { apiVersionOf, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import { decisionOwner } from '@berth/placement/prior/decision-owner';
import { pageOfClusters } from '@berth/placement/prior/page-of-clusters';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';

/**
 * The snapshot with these clusters published for some placements. One PlacementDecision per
 * placement lists all of its clusters, because a scheduler reads only the names. All other
 * decisions are unchanged and keep their order.
 * @param outcomes clusters by `namespace/name` of the placement
 */
export function withPublishedClusters(
  snapshot: Snapshot,
  outcomes: ReadonlyMap<string, readonly string[]>,
): Snapshot {
  if (outcomes.size === 0) return snapshot;
  const open = new Map(outcomes);
  const decisions = snapshot.decisions.flatMap((page) => {
    const owner = decisionOwner(page);
    if (owner === undefined || !outcomes.has(owner)) return page;
    const clusters = open.get(owner);
    open.delete(owner);
    return clusters === undefined || clusters.length === 0 ? [] : decisionOf(owner, clusters, page);
  });
  for (const [owner, clusters] of open) if (clusters.length > 0) decisions.push(decisionOf(owner, clusters));
  return { ...snapshot, decisions };
}

function decisionOf(owner: string, clusters: readonly string[], page?: PlacementDecision): PlacementDecision {
  const slash = owner.indexOf('/');
  const [namespace, name] = [owner.slice(0, slash), owner.slice(slash + 1)];
  const metadata = page?.metadata ?? {
    name: `${name}-decision-1`,
    namespace,
    labels: { [PLACEMENT_LABEL]: name },
  };
  return pageOfClusters(
    { apiVersion: apiVersionOf(PLACEMENT_DECISION), kind: 'PlacementDecision', metadata },
    clusters,
  );
}
