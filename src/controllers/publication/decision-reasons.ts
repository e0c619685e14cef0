import type { ManagedCluster, Taint } from '@berth/ocm/kind/managed-cluster';
import type { Placement } from '@berth/ocm/kind/placement';
import { clustersOfPage, decisionOwner } from '@berth/placement/prior/published-clusters';
import { selectionReason } from '@berth/placement/explain/text/selection-reason';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { ReasonOf } from '../../core/publish/pages/decision-page.ts';
import type { HubInventory } from '../inventory/hub-inventory.ts';

type Inventory = Pick<HubInventory, 'clusters' | 'decisions' | 'placements'>;

/** The reasons on the pages of decisions. They name taints, so they may change while the decision stays. */
export class DecisionReasons {
  readonly #inventory: Inventory;

  constructor(inventory: Inventory) {
    this.#inventory = inventory;
  }

  of(result: ScheduleResult): ReasonOf {
    const { store } = this.#inventory.clusters;
    const reason = selectionReason(result);
    return (cluster) => reason(taintsOf(store.get(cluster)));
  }

  /**
   * @param enqueue called with `namespace/name` of a placement whose reasons changed, though perhaps not its decision.
   *   Otherwise the next start would write them
   */
  onChange(enqueue: (placement: string) => void): void {
    const { clusters, decisions } = this.#inventory;
    clusters.store.onChange(({ key: cluster, before, after }) => {
      const [old, now] = [taintsOf(before), taintsOf(after)];
      if (before === undefined || after === undefined || jsonEqual(old, now)) return;
      for (const page of decisions.store.list() as unknown as readonly PlacementDecision[]) {
        const owner = decisionOwner(page);
        if (owner !== undefined && this.#mayName(owner, [...old, ...now]) && lists(page, cluster))
          enqueue(owner);
      }
    });
  }

  #mayName(owner: string, taints: readonly Taint[]): boolean {
    const placement = this.#inventory.placements.store.get(owner) as Placement | undefined;
    return (
      (placement?.spec?.tolerations ?? []).length > 0 ||
      taints.some(({ effect }) => effect === 'NoSelectIfNew')
    );
  }
}

function taintsOf(cluster: unknown): readonly Taint[] {
  return (cluster as ManagedCluster | undefined)?.spec?.taints ?? [];
}

function lists(page: PlacementDecision, cluster: string): boolean {
  return clustersOfPage(page).includes(cluster);
}
