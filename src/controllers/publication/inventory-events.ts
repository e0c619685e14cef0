import type { ObjectChange } from '@berth/kube/cache/object-store';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Leadership } from '@berth/kube/leader-election/leadership';
import type { HubInventory } from '../inventory/hub-inventory.ts';
import type { SchedulingLoop } from '../scheduling/scheduling-loop.ts';
import { placementsOf } from './decision-view.ts';
import type { PlacementPublisher } from './placement-publisher.ts';
import type { PlacementStates } from '../../core/publish/machine/placement-states.ts';

/**
 * Turns watch events into events of placements, and requests a new transition if decisions may
 * depend on them.
 */
export function listenToInventory(
  inventory: HubInventory,
  parts: {
    readonly scheduling: Pick<SchedulingLoop, 'request'>;
    readonly publisher: Pick<PlacementPublisher, 'handle'>;
    readonly states: Pick<PlacementStates, 'handingOver' | 'behind'>;
    readonly leadership: Pick<Leadership, 'isHeld'>;
  },
): void {
  const { scheduling, publisher, states, leadership } = parts;
  for (const { store } of [inventory.clusters, inventory.clusterSets, inventory.bindings, inventory.scores])
    store.onChange(() => scheduling.request('inputs'));
  inventory.placements.store.onChange((change) =>
    publisher.handle(change.key, { kind: 'placement-changed', change, isInput: () => isInputChange(change) }),
  );
  inventory.decisions.store.onChange((change) => {
    // Our own pages are inputs of the next pass, but do not trigger one for their placement.
    scheduling.request('decisions');
    const { isHeld: isLeader } = leadership;
    for (const key of placementsOf(change)) {
      const isPlacementThere = inventory.placements.store.get(key) !== undefined;
      publisher.handle(key, { kind: 'page-changed', change, isLeader, isPlacementThere });
    }
  });
  inventory.decisions.store.onListed((hubVersion) => {
    const { isHeld: isLeader } = leadership;
    for (const key of states.behind) {
      const isPlacementThere = inventory.placements.store.get(key) !== undefined;
      publisher.handle(key, { kind: 'pages-listed', hubVersion, isLeader, isPlacementThere });
    }
  });
  inventory.works.store.onChange(({ before, after }) => {
    if (states.handingOver.length === 0 || statusText(before) === statusText(after)) return;
    for (const key of states.handingOver) publisher.handle(key, { kind: 'works-changed' });
  });
}

/** Whether an input of decisions changed. The status does not count. */
function isInputChange({ before, after }: ObjectChange): boolean {
  if (before === undefined || after === undefined) return true;
  const inputs = ({ metadata }: KubeObject): string =>
    canonicalJson([
      metadata.uid,
      metadata.generation,
      metadata.labels,
      metadata.annotations,
      metadata.deletionTimestamp,
    ]);
  return inputs(before) !== inputs(after);
}

function statusText(object: KubeObject | undefined): string {
  return canonicalJson(object?.['status'] ?? null);
}
