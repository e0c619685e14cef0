import type { ScheduleResult } from '../../../core/placement/schedule-result.ts';
import type { PublisherDependencies } from './publisher-dependencies.ts';

/** Others that never rest must not keep a placement from its next decision. */
const MAX_WAIT_MS = 10_000;

/** A row of changes by others, with less than that between them. */
interface Disturbance {
  readonly firstMs: number;
  readonly lastMs: number;
}

/**
 * Placements whose pages others changed. Decisions depend on those of before (a workload likes to stay where it is), so that what was
 * decided on what others left is no decision: the pages are put back first, and then it is decided again.
 */
export class DisturbedPlacements {
  readonly #deps: Pick<PublisherDependencies, 'clock' | 'wasDecidedKnowing' | 'decideAgain'>;
  readonly #disturbances = new Map<string, Disturbance>();

  constructor(deps: Pick<PublisherDependencies, 'clock' | 'wasDecidedKnowing' | 'decideAgain'>) {
    this.#deps = deps;
  }

  /** Others changed which clusters its pages list. */
  saw(key: string): void {
    const lastMs = this.#deps.clock.now();
    this.#disturbances.set(key, { firstMs: this.#running(key)?.firstMs ?? lastMs, lastMs });
  }

  /** Was it decided on what others left? If so, the placement is looked at again when it was decided anew. */
  isOfRemains(key: string, result: ScheduleResult, published: readonly string[]): boolean {
    const { clock, wasDecidedKnowing, decideAgain } = this.#deps;
    const disturbance = this.#running(key);
    if (disturbance === undefined || isOver(disturbance.firstMs, clock.now())) return false;
    if (wasDecidedKnowing(key, result, published)) {
      this.forget(key);
      return false;
    }
    decideAgain(key);
    return true;
  }

  #running(key: string): Disturbance | undefined {
    const disturbance = this.#disturbances.get(key);
    if (disturbance === undefined || !isOver(disturbance.lastMs, this.#deps.clock.now())) return disturbance;
    this.forget(key);
    return undefined;
  }

  forget(key: string): void {
    this.#disturbances.delete(key);
  }
}

function isOver(sinceMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - sinceMs) >= MAX_WAIT_MS;
}
