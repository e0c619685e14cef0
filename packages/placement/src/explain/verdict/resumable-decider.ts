import { PlacementEngine, type ResultGenerator } from '../../engine.ts';
import { IncrementalScheduler } from '../../incremental-scheduler.ts';
import { diffSnapshots } from '../../incremental/snapshot-delta.ts';
import { placementKey } from '../../index/scheduling-index.ts';
import { PublishedClusters } from '../../prior/published-clusters.ts';
import type { ScheduleResult } from '../../result/schedule-result.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';
import type { PlacementTrace } from '../../trace/trace.ts';

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

type List = readonly string[];
type Lists = ReadonlyMap<string, List>;

const NONE: List = [];

/** A decision, and the engine that made it. */
interface TriedDecision {
  readonly result: ScheduleResult;
  readonly trace: PlacementTrace;
  readonly engine: PlacementEngine;
}

/**
 * Decides placements one by one on similar snapshots. One incremental engine moves from snapshot to
 * snapshot, so that each costs only the differences. The results equal those of a new engine with
 * this placement alone.
 */
export class CauseTrials {
  /**
   * Readers of what is published in the earlier and in the later snapshot, which reuse unchanged
   * parts.
   */
  readonly earlier = new PublishedClusters();
  readonly later = new PublishedClusters();
  /** The decisions that the engine counts, by owner. */
  readonly #counted = new Map<string, readonly string[]>();
  #engine: PlacementEngine | undefined;
  #at: Snapshot | undefined;

  /**
   * The clusters that the placement of a snapshot with one placement selects.
   * @param published the clusters by owner that count as published, instead of the decisions of the snapshot
   * @param reverted owners with other clusters; undefined: none are published
   */
  selected(snapshot: Snapshot, published: Lists, reverted: ReadonlyMap<string, List | undefined>): List {
    return this.decide(snapshot, published, reverted)?.result.selected ?? NONE;
  }

  /**
   * The decision of the placement of a snapshot with one placement; undefined if it has none. Its trace is valid until
   * the next call. For the parameters see `selected`.
   */
  decide(
    snapshot: Snapshot,
    published: Lists,
    reverted: ReadonlyMap<string, List | undefined> = new Map(),
  ): TriedDecision | undefined {
    const [placement] = snapshot.placements;
    if (placement === undefined) return undefined;
    const engine = this.#engineAt({ ...snapshot, placements: [], decisions: [], held: undefined });
    for (const owner of this.#counted.keys())
      if (!published.has(owner) && reverted.get(owner) === undefined) this.#count(engine, owner, NONE);
    for (const [owner, names] of published) if (!reverted.has(owner)) this.#count(engine, owner, names);
    for (const [owner, names = NONE] of reverted) this.#count(engine, owner, names);
    return { ...engine.tryPlacement(placement), engine };
  }

  #engineAt(snapshot: Snapshot): PlacementEngine {
    if (this.#engine === undefined || this.#at === undefined) this.#engine = new PlacementEngine(snapshot);
    else this.#engine.applyDelta(diffSnapshots(this.#at, snapshot));
    this.#at = snapshot;
    return this.#engine;
  }

  #count(engine: PlacementEngine, owner: string, names: readonly string[]): void {
    if (this.#counted.get(owner) === names) return;
    engine.recordPublished(owner, names);
    if (names === NONE) this.#counted.delete(owner);
    else this.#counted.set(owner, names);
  }
}
