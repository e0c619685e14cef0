import type { ScheduleResult } from '../../../core/placement/schedule-result.ts';
import type { DecisionPage } from '../../../core/publish/decision-page.ts';
import { type LastPublication, wasChanged } from '../../../core/publish/last-publication.ts';
import type { PublisherDependencies } from './publisher-dependencies.ts';

/** Others that never rest must not keep a placement from its next decision. */
const MAX_WAIT_MS = 10_000;

/**
 * Placements whose pages others changed. Decisions depend on those of before (a workload likes to stay where it is), so that what was
 * decided on what others left is no decision: the pages are put back first, and then it is decided again.
 */
export class DisturbedPlacements {
  readonly #deps: Pick<PublisherDependencies, 'clock' | 'wasDecidedKnowing' | 'decideAgain'>;
  readonly #sinceMs = new Map<string, number>();

  constructor(deps: Pick<PublisherDependencies, 'clock' | 'wasDecidedKnowing' | 'decideAgain'>) {
    this.#deps = deps;
  }

  /** @param pages as they stand on the hub */
  look(key: string, pages: readonly DecisionPage[], last: LastPublication | undefined): void {
    if (!this.#sinceMs.has(key) && wasChanged(pages, last)) this.#sinceMs.set(key, this.#deps.clock.now());
  }

  /** Was it decided on what others left? If so, the placement is looked at again when it was decided anew. */
  isOfRemains(key: string, result: ScheduleResult, published: readonly string[]): boolean {
    const { clock, wasDecidedKnowing, decideAgain } = this.#deps;
    const sinceMs = this.#sinceMs.get(key);
    if (sinceMs === undefined) return false;
    if (Math.abs(clock.now() - sinceMs) < MAX_WAIT_MS && !wasDecidedKnowing(key, result, published)) {
      decideAgain(key);
      return true;
    }
    this.#sinceMs.delete(key);
    return false;
  }

  forget(key: string): void {
    this.#sinceMs.delete(key);
  }
}
