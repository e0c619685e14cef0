import type { KeyIndex } from '@berth/kube/cache/object-store';
import type { Placement } from '@berth/ocm/kind/placement';
import { PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { activeHold } from '../../core/publish/approval/approval-code.ts';
import type { DeletionHold } from '../../core/registration/cluster-deletion.ts';
import { DECISIONS_BY_CLUSTER, listedClusters } from '../inventory/decisions-by-cluster.ts';
import { placementOfDecision } from '@berth/ocm/kind/placement-decision';
import { isOfOtherScheduler } from '../inventory/schedulable-placement.ts';
import type { RegistrationOptions } from './registration-options.ts';

/**
 * Why what runs on a cluster that is being deleted must stay: Berth decides a placement that still selects the cluster.
 * Until that decision lets the cluster go, the deletion removes nothing. The decision may be held, under way or waiting
 * for a replacement; the hold ends as every hold does, and with it the wait.
 */
export class DeletionHolds {
  readonly #options: RegistrationOptions;
  readonly #cached: KeyIndex;

  constructor(options: RegistrationOptions) {
    this.#options = options;
    this.#cached = options.cache.index(DECISIONS_BY_CLUSTER);
  }

  /** Empty: clean-up may go on. Read from the hub, because deletions follow; the cache only answers sooner. */
  async of(cluster: string): Promise<readonly DeletionHold[]> {
    const { decides = 'none', holdsOfPull, hub } = this.#options;
    const pulled = (holdsOfPull?.(cluster) ?? []).map((text): DeletionHold => ({ text, isHeld: true }));
    if (decides === 'none') return pulled;
    const known = await this.#holdersAmong(this.#cached.get(cluster));
    if (known.length > 0) return [...known, ...pulled];
    const { items } = await hub.list(PLACEMENT_DECISION);
    const listing = items.filter((decision) => listedClusters(decision).includes(cluster));
    return [...(await this.#holdersAmong(listing)), ...pulled];
  }

  async #holdersAmong(decisions: readonly KubeObject[]): Promise<readonly DeletionHold[]> {
    const keys = new Set(decisions.flatMap((decision) => placementOfDecision(decision) ?? []));
    const holds: DeletionHold[] = [];
    for (const key of [...keys].sort()) {
      const placement = await this.#read(key);
      if (placement === undefined || !this.#isDecided(placement)) continue;
      const held = activeHold(placement);
      holds.push({
        text: `placement ${key} selects the cluster${held === undefined ? '' : `, and its removal is held (${held.reason}): ${held.message}`}`,
        isHeld: held !== undefined,
      });
    }
    return holds;
  }

  async #read(key: string): Promise<Placement | undefined> {
    const [namespace = '', name = ''] = key.split('/');
    const { items } = await this.#options.hub.list(PLACEMENT, {
      namespace,
      fieldSelector: `metadata.name=${name}`,
    });
    return items[0] as Placement | undefined;
  }

  /** Nobody decides a placement that is being deleted. Its decisions go with it. */
  #isDecided(placement: Placement): boolean {
    if (placement.metadata.deletionTimestamp !== undefined) return false;
    return this.#options.decides === 'all' || !isOfOtherScheduler(placement);
  }
}
