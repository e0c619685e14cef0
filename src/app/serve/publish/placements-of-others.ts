import type { Placement } from '../../../core/model/placement.ts';
import type { Clock, KubeApi } from '../../../core/ports.ts';
import { decisionPageOf } from '../../../core/publish/decision-page.ts';
import { heldCondition } from '../../../core/publish/judge-result.ts';
import { listOnce } from '../../../core/publish/list-once.ts';
import type { SettledPage } from '../../../core/publish/plan-pages.ts';
import { HELD_CONDITION } from '../../../core/publish/publish-annotations.ts';
import { DONE, type ReconcileOutcome } from '../../../runtime/reconciler.ts';
import type { DecisionView } from './decision-view.ts';
import { OTHERS_QUIET_MS } from './upstream-decisions.ts';
import { writePlacementStatus } from './write-placement-status.ts';
import type { WrittenObjects } from './written-objects.ts';

export interface PlacementsOfOthersOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly view: DecisionView;
  readonly placements: WrittenObjects;
  readonly onSettled: (placement: string, pages: readonly SettledPage[]) => void;
}

/**
 * Placements whose owner keeps schedulers away: what stands on their pages is what is published, once it rests, and what Berth held of
 * them before is over.
 */
export class PlacementsOfOthers {
  readonly #options: PlacementsOfOthersOptions;
  /** Versions of the pages as they were seen last, and since when. */
  readonly #seen = new Map<string, { readonly versions: string; readonly sinceMs: number }>();

  constructor(options: PlacementsOfOthersOptions) {
    this.#options = options;
  }

  async reconcile(key: string, placement: Placement): Promise<ReconcileOutcome> {
    const { clock, view, onSettled } = this.#options;
    await this.#endHold(placement);
    const pages = view.pagesOf(key);
    const versions = JSON.stringify(
      pages.map(({ metadata }) => [metadata.name, metadata.resourceVersion]).sort(),
    );
    const seen = this.#seen.get(key);
    const nowMs = clock.now();
    const since = seen?.versions === versions ? seen : { versions, sinceMs: nowMs };
    this.#seen.set(key, since);
    // Nobody can tell how long they rest already; what was published before may be older still.
    if (seen !== undefined && Math.abs(nowMs - since.sinceMs) < OTHERS_QUIET_MS)
      return { kind: 'requeue', afterMs: OTHERS_QUIET_MS };
    onSettled(key, listOnce(pages.map((page) => decisionPageOf(page, placement.metadata.uid))).pages);
    return DONE;
  }

  forget(key: string): void {
    this.#seen.delete(key);
  }

  async #endHold(placement: Placement): Promise<void> {
    const existing = placement.status?.conditions?.find(({ type }) => type === HELD_CONDITION);
    const over = existing?.status === 'True' ? heldCondition(undefined, existing) : undefined;
    if (over === undefined) return;
    const conditions = [{ ...over, reason: 'LeftToOthers' }];
    await writePlacementStatus(this.#options, placement, { pages: undefined, conditions });
  }
}
