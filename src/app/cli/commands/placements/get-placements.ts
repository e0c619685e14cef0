import { listPlacements, listPlacementsOfClusteradm } from '../../../../core/listing/list-placements.ts';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import type { Placement } from '@berth/ocm/kind/placement';
import { PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import { getCommand } from '../objects/get-command.ts';

export const getPlacementsCommand = getCommand({
  plural: 'placements',
  aliases: ['placement'],
  describe: async (hub, object) =>
    (await import('../objects/describe-sections.ts')).placementSections(hub, object),
  kinds: [PLACEMENT, PLACEMENT_DECISION],
  description: 'list Placements, the clusters that they select, what is held, and what is wrong',
  formats: ['clusteradm'],
  examples: ['placements', 'placements -n argocd -o clusteradm', 'placements web -o yaml', 'placements -w'],
  read: async (hub, { namespace }, selection) => {
    const [placements, decisions] = await Promise.all([
      hub.list(PLACEMENT, selection),
      hub.list(PLACEMENT_DECISION, { namespace }),
    ]);
    const pages = decisions.items as unknown as readonly PlacementDecision[];
    return {
      objects: placements.items,
      list: (objects, nowMs) => listPlacements(objects as readonly Placement[], pages, nowMs),
      listOfClusteradm: (objects) => listPlacementsOfClusteradm(objects as readonly Placement[], pages),
    };
  },
});
