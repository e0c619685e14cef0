import { listPlacements } from '../../../../core/listing/list-placements.ts';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import type { Placement } from '@berth/ocm/kind/placement';
import { PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import { getCommand, type GetFlags } from '../objects/get-command.ts';

interface GetPlacementsFlags extends GetFlags {
  readonly namespace?: string;
}

export const getPlacementsCommand = getCommand<GetPlacementsFlags>({
  plural: 'placements',
  aliases: ['placement'],
  kind: 'Placement',
  description: 'list Placements and the clusters that they select',
  examples: ['placements', 'placements --namespace argocd -o table', 'placements web -o yaml'],
  addOptions: (command) => command.option('-n, --namespace <name>', 'only this namespace (default: all)'),
  read: async (hub, { namespace }) => {
    const [placements, decisions] = await Promise.all([
      hub.list(PLACEMENT, { namespace }),
      hub.list(PLACEMENT_DECISION, { namespace }),
    ]);
    return {
      objects: placements.items,
      list: (objects) =>
        listPlacements(
          objects as readonly Placement[],
          decisions.items as unknown as readonly PlacementDecision[],
        ),
    };
  },
});
