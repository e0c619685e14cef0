import { apiVersionOf, PLACEMENT_DECISION } from '../model/kinds.ts';
import type { PlacementDecision } from '../model/kind/placement-decision.ts';
import { PLACEMENT_LABEL } from '../model/kind/placement-decision.ts';
import { decisionOwner } from '../placement/prior/decision-owner.ts';
import { pageOfClusters } from '../placement/prior/page-of-clusters.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

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
