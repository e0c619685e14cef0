import type { PlacementEngine, ResultGenerator } from '../../engine.ts';
import { IncrementalScheduler } from '../../incremental-scheduler.ts';
import { placementKey } from '../../index/scheduling-index.ts';
import type { ScheduleResult } from '../../result/schedule-result.ts';
import type { CauseTrials, TriedDecision } from './cause-trials.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';

/** The decisions that were made of one snapshot, and the generator that continues them. */
interface Progress {
  readonly snapshot: Snapshot;
  readonly scheduler: IncrementalScheduler;
  readonly generator: ResultGenerator;
  /** In the order of the snapshot. */
  readonly results: ScheduleResult[];
}

/** An engine that decided the placements of a snapshot up to one, and no further. */
export interface PartlyDecided {
  readonly engine: PlacementEngine;
  /** In order; the last one is that of the placement. */
  readonly results: readonly ScheduleResult[];
}

/** Engines that decided similar snapshots. The names in the snapshots must be unique. */
export interface SharedEngines {
  /** Used for nothing else until `end`. */
  readonly scheduler: IncrementalScheduler;
  /** Decides placements once more, for their traces: an engine that follows has traces of its results in part only. */
  readonly tracer: CauseTrials;
}

/** Decides the placements of a snapshot up to the requested one, and continues there at the next request. */
export class ResumableDecider {
  readonly #shared: SharedEngines | undefined;
  #progress: Progress | undefined;

  /** @param shared absent: a new engine for each snapshot */
  constructor(shared?: SharedEngines) {
    this.#shared = shared;
  }

  /**
   * Requests in the order of the snapshot continue from the previous one.
   * @param key `namespace/name`; of placements with the same key, the one that the engine knows by it
   * @returns undefined if there is no placement with that name. Valid until the next call
   */
  decideUntil(snapshot: Snapshot, key: string): PartlyDecided | undefined {
    const at = snapshot.placements.findLastIndex((placement) => placementKey(placement) === key);
    if (at === -1) return undefined;
    const { generator, results, scheduler } = this.#progressBefore(snapshot, at);
    const heldOf = (result: ScheduleResult | undefined): readonly string[] | undefined =>
      result && snapshot.held?.[placementKey(result.placement)];
    while (results.length <= at) {
      const { done, value } = generator.next(heldOf(results.at(-1)));
      if (done === true) return undefined;
      results.push(value);
    }
    const { engine } = scheduler;
    const held = heldOf(results.at(-1));
    if (held !== undefined) engine?.recordPublished(key, held);
    return engine && { engine, results };
  }

  /**
   * Explains the last result.
   * @param alone the snapshot in which it was decided, with this placement alone
   * @returns valid until the next call
   */
  traceOf({ engine, results }: PartlyDecided, alone: Snapshot): TriedDecision | undefined {
    const result = results.at(-1);
    if (result === undefined) return undefined;
    if (this.#shared === undefined) {
      const trace = engine.trace(placementKey(result.placement));
      return trace && { result, trace, engine };
    }
    const { tracer } = this.#shared;
    const tried = tracer.decide(alone, tracer.later.read(alone.decisions).clusters);
    return tried && { ...tried, result };
  }

  /** The scheduler may be used again. */
  end(): void {
    this.#progress?.generator.return();
    this.#progress = undefined;
  }

  #progressBefore(snapshot: Snapshot, at: number): Progress {
    const known = this.#progress;
    if (known?.snapshot === snapshot && known.results.length <= at) return known;
    this.end();
    const scheduler = this.#shared?.scheduler ?? new IncrementalScheduler();
    return (this.#progress = { snapshot, scheduler, generator: scheduler.decide(snapshot), results: [] });
  }
}
