import { sameNumbers } from '../placement/prior/numbered-clusters.ts';
import { PublishedClusters } from '../placement/prior/published-clusters.ts';
import type { ResultGenerator } from '../placement/engine.ts';
import type { ScheduleResult } from '../placement/result/schedule-result.ts';
import { sameClusters } from '../publish/judge/cluster-change.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { type CanonicalSnapshot, canonicalSnapshot } from './canonical-snapshot.ts';
import { withPublishedClusters } from './with-published-clusters.ts';

export interface TransitionOptions {
  /** One result per placement of a snapshot, in its order, each given what is published for it where that differs from its result. */
  readonly decide: (snapshot: Snapshot) => ResultGenerator;
  /**
   * The clusters that will be published once a result has been judged: those of the result where nothing holds it, else those that are
   * published before the transition, or both while they are exchanged. Asked only where the result is another than what is published.
   * @param key `namespace/name` of the placement
   */
  readonly outcomeOf: (key: string, result: ScheduleResult) => readonly string[];
}

export interface Transition {
  /** Lists as published what will be published: deciding it again moves nothing. */
  readonly snapshot: Snapshot;
  /** By `namespace/name`, in that order: of a placement that moved, the result that moved it unless it asks for other clusters since. */
  readonly results: ReadonlyMap<string, ScheduleResult>;
  /** The snapshots that moved placements were decided in; all others were decided in `snapshot`. */
  readonly decidedIn: ReadonlyMap<string, Snapshot>;
  /** By `namespace/name`, the placements of which something else may be published than at the beginning. */
  readonly moved: ReadonlyMap<string, MovedPlacement>;
  /** How often all placements were decided. */
  readonly rounds: number;
  /** Placements whose decisions kept changing each other; each keeps its last result. Empty: all decisions are at rest. */
  readonly unstable: readonly string[];
}

/** The clusters that are published at the beginning of a transition, and those that will be published. */
export interface MovedPlacement {
  readonly uid: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** A result, and the clusters that are published, and will be published for it. */
interface Moved {
  readonly result: ScheduleResult;
  readonly published: readonly string[];
  readonly outcome: readonly string[];
}

interface Round {
  readonly results: readonly ScheduleResult[];
  /** By `namespace/name`. */
  readonly moved: ReadonlyMap<string, Moved>;
  readonly unstable: readonly string[];
  /** The snapshot of the round, with what was held in it. */
  readonly decided: Snapshot;
}

interface Move {
  readonly times: number;
  readonly result: ScheduleResult;
  readonly snapshot: Snapshot;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** A placement that moved so often within one transition does not move again. */
const MAX_MOVES = 4;
/** In this round nothing moves any more. */
const MAX_ROUNDS = 16;
const NONE: readonly string[] = [];

/**
 * From what is published to what will be published: the placements are decided in the order of `namespace/name`, and again on the
 * outcome, until the outcome no longer changes. Decisions are inputs of other decisions (Balance counts them, Steady keeps them), so
 * one round alone gives a result that the next look at the hub would change again.
 *
 * The same snapshot gives the same transition, in whatever order its objects are listed and however often it was begun: the controller
 * and the plan share it.
 */
export class Transitions {
  readonly #options: TransitionOptions;
  readonly #published = new PublishedClusters();
  /** Per result, the published list that names the same clusters. A result that stays the same is not compared again. */
  readonly #same = new WeakMap<ScheduleResult, readonly string[]>();
  #last: CanonicalSnapshot | undefined;

  constructor(options: TransitionOptions) {
    this.#options = options;
  }

  /** Yields after each decided placement: the caller may pause, or stop and begin again with a newer snapshot. */
  *run(start: Snapshot): Generator<void, Transition> {
    const canonical = canonicalSnapshot(start, this.#last);
    this.#last = canonical;
    const { keys } = canonical;
    let { snapshot } = canonical;
    const moves = new Map<string, Move>();
    for (let rounds = 1; ; rounds++) {
      const mayMove = (key: string): boolean =>
        rounds < MAX_ROUNDS && (moves.get(key)?.times ?? 0) < MAX_MOVES;
      const { results, moved, unstable, decided } = yield* this.#round(snapshot, keys, mayMove);
      for (const [key, { result, published, outcome }] of moved) {
        const { times = 0, before = published } = moves.get(key) ?? {};
        moves.set(key, { times: times + 1, result, snapshot: decided, before, after: outcome });
      }
      if (moved.size === 0)
        return transitionOf({ snapshot: decided, keys, results, moves, rounds, unstable });
      const outcomes = new Map([...moved].map(([key, { outcome }]) => [key, outcome]));
      snapshot = withPublishedClusters(snapshot, outcomes);
    }
  }

  /** Each placement is decided on what will be published for those before it, and on what is published for those after it. */
  *#round(
    snapshot: Snapshot,
    keys: readonly string[],
    mayMove: (key: string) => boolean,
  ): Generator<void, Round> {
    const results: ScheduleResult[] = [];
    const moved = new Map<string, Moved>();
    const held: Record<string, readonly string[]> = {};
    const unstable: string[] = [];
    const { clusters } = this.#published.read(snapshot.decisions);
    const each = this.#options.decide(snapshot);
    try {
      for (let step = each.next(); step.done !== true; ) {
        const result = step.value;
        const key = keys[results.length] ?? '';
        const published = clusters.get(key) ?? NONE;
        const isPublished = this.#isPublished(result, published);
        const wanted = isPublished ? published : this.#options.outcomeOf(key, result);
        const isOther = wanted === result.selected || !sameClusters(wanted, published);
        const moves = wanted !== published && isOther;
        const outcome = moves && mayMove(key) ? wanted : published;
        results.push(result);
        if (outcome !== published) moved.set(key, { result, published, outcome });
        else if (moves) unstable.push(key);
        const isHeld = !isPublished && !sameClusters(outcome, result.selected);
        if (isHeld) held[key] = outcome;
        yield;
        step = each.next(isHeld ? outcome : undefined);
      }
    } finally {
      each.return();
    }
    const decided = Object.keys(held).length === 0 ? snapshot : { ...snapshot, held };
    return { results, moved, unstable, decided };
  }

  #isPublished(result: ScheduleResult, published: readonly string[]): boolean {
    if (result.outcome === 'skipped' || this.#same.get(result) === published) return true;
    if (!isSameSelection(result.selected, published)) return false;
    this.#same.set(result, published);
    return true;
  }
}

function transitionOf(end: {
  readonly snapshot: Snapshot;
  readonly keys: readonly string[];
  readonly results: readonly ScheduleResult[];
  readonly moves: ReadonlyMap<string, Move>;
  readonly rounds: number;
  readonly unstable: readonly string[];
}): Transition {
  const { snapshot, keys, moves, rounds, unstable } = end;
  const results = new Map<string, ScheduleResult>();
  const decidedIn = new Map<string, Snapshot>();
  end.results.forEach((last, at) => {
    const key = keys[at] ?? '';
    const move = moves.get(key);
    // One that moved, and is held in the end, asks for what it asks in the end: so would the next transition.
    const isMoved = move !== undefined && (unstable.includes(key) || asksForSame(move.result, last));
    results.set(key, isMoved ? move.result : last);
    if (isMoved) decidedIn.set(key, move.snapshot);
  });
  const moved = new Map(
    [...moves].map(([key, { result, before, after }]) => [
      key,
      { uid: result.placement.metadata.uid ?? '', before, after },
    ]),
  );
  return { snapshot, results, decidedIn, moved, rounds, unstable };
}

function asksForSame(move: ScheduleResult, last: ScheduleResult): boolean {
  return isSameSelection(move.selected, last.selected);
}

/** Selections of a few thousand clusters differ in order from round to round: the engine knows their numbers. */
function isSameSelection(a: readonly string[], b: readonly string[]): boolean {
  return sameNumbers(a, b) ?? sameClusters(a, b);
}

/** All of a transition at once. */
export function completeTransition(options: TransitionOptions, snapshot: Snapshot): Transition {
  const steps = new Transitions(options).run(snapshot);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
