import { apiVersionOf, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Placement } from '@berth/ocm/kind/placement';
import { type PlacementDecision, PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import type { ResultGenerator } from '@berth/placement/engine';
import {
  PublishedClusters,
  decisionOwner,
  sameNumbers,
  pageOfClusters,
} from '@berth/placement/prior/published-clusters';
import { sameClusters } from '@berth/placement/result/cluster-change';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { compareText } from '@berth/runtime/text/compare-text';

export interface TransitionOptions {
  /**
   * Yields one result per placement, in the order of the snapshot. After each result the caller
   * passes the clusters that are published for the placement, if they differ from the result.
   */
  readonly decide: (snapshot: Snapshot) => ResultGenerator;
  /**
   * Judges a result and returns the clusters that will be published. These are the clusters of the
   * result if nothing holds it, the clusters published before the transition if it is held, or both
   * during a handover. Called only if the result differs from what is published.
   * @param key `namespace/name` of the placement
   */
  readonly outcomeOf: (key: string, result: ScheduleResult) => readonly string[];
}

export interface Transition {
  /** The snapshot with the decisions that will be published. Deciding it again changes nothing. */
  readonly snapshot: Snapshot;
  /**
   * The result of each placement, by `namespace/name` and sorted by it. For a placement that moved
   * this is the result that moved it. If its last result selects other clusters, it is the last
   * result.
   */
  readonly results: ReadonlyMap<string, ScheduleResult>;
  /**
   * The snapshot in which each moved placement was decided, by `namespace/name`. All other
   * placements were decided in `snapshot`.
   */
  readonly decidedIn: ReadonlyMap<string, Snapshot>;
  /** The placements whose published clusters may change, by `namespace/name`. */
  readonly moved: ReadonlyMap<string, MovedPlacement>;
  /** How often all placements were decided. */
  readonly rounds: number;
  /**
   * Placements whose decisions kept changing each other. Each keeps its last result. Empty if no
   * decision changes any more.
   */
  readonly unstable: readonly string[];
}

/** The clusters of a placement that are published before a transition and after it. */
export interface MovedPlacement {
  readonly uid: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** A result, the clusters that are published now, and the clusters that will be published. */
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
  /** The snapshot of the round, with the published clusters of placements whose result is held. */
  readonly decided: Snapshot;
}

/** What became of a placement in the rounds so far. */
interface Move {
  /** In how many rounds it moved. */
  readonly times: number;
  readonly result: ScheduleResult;
  readonly snapshot: Snapshot;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** A placement moves at most this often within one transition. */
const MAX_MOVES = 4;
/** From this round on no placement moves. */
const MAX_ROUNDS = 16;
const NONE: readonly string[] = [];

/**
 * Computes what will be published. It decides the placements in the order of `namespace/name`, and
 * decides them again on the outcome until the outcome no longer changes. Decisions are inputs of
 * other decisions: Balance counts them and Steady prefers them. The hub would therefore change the
 * result of a single round again.
 *
 * The same snapshot gives the same transition. The order of its objects and the number of earlier
 * runs do not matter, because both the controller and the plan use this class.
 */
export class Transitions {
  readonly #options: TransitionOptions;
  readonly #published = new PublishedClusters();
  /**
   * For each result, the published list with the same clusters. It avoids comparing an unchanged
   * result again.
   */
  readonly #same = new WeakMap<ScheduleResult, readonly string[]>();
  #last: CanonicalSnapshot | undefined;

  constructor(options: TransitionOptions) {
    this.#options = options;
  }

  /**
   * Yields after each decided placement, so that the caller can pause, or stop and start again with
   * a newer snapshot.
   */
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

  /**
   * Decides each placement on what will be published for the placements before it and on what is
   * published now for the placements after it.
   */
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
        const isMove = wanted !== published && isOther;
        const outcome = isMove && mayMove(key) ? wanted : published;
        results.push(result);
        if (outcome !== published) moved.set(key, { result, published, outcome });
        else if (isMove) unstable.push(key);
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
    // A moved placement whose last result is held and selects other clusters gets that last result,
    // as in the next transition.
    const isMoved = move !== undefined && (unstable.includes(key) || selectsSame(move.result, last));
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

function selectsSame(move: ScheduleResult, last: ScheduleResult): boolean {
  return isSameSelection(move.selected, last.selected);
}

/**
 * Two selections of thousands of clusters often differ only in order. Comparing the cluster numbers
 * of the engine is faster than comparing names.
 */
function isSameSelection(a: readonly string[], b: readonly string[]): boolean {
  return sameNumbers(a, b) ?? sameClusters(a, b);
}

/**
 * Runs a transition to its end without pauses.
 * @param transitions an object that ran earlier transitions, or options for a new one
 */
export function completeTransition(
  transitions: TransitionOptions | Transitions,
  snapshot: Snapshot,
): Transition {
  const steps = (transitions instanceof Transitions ? transitions : new Transitions(transitions)).run(
    snapshot,
  );
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** A snapshot in its canonical order. */
interface CanonicalSnapshot {
  readonly snapshot: Snapshot;
  /** `namespace/name` of each placement, at the same index. */
  readonly keys: readonly string[];
}

/**
 * The snapshot with its placements sorted by `namespace/name` and without the decisions of deleted
 * placements. The garbage collector of the hub deletes those decisions at an unknown time, and no
 * decision may depend on that time.
 * @param before an earlier snapshot with mostly the same objects; reusing its keys is faster than
 * making new ones
 */
function canonicalSnapshot(start: Snapshot, before?: CanonicalSnapshot): CanonicalSnapshot {
  // The transition judges held results again.
  const snapshot = start.held === undefined ? start : { ...start, held: undefined };
  const { keys, areNew } = keysOf(snapshot.placements, before);
  const isInOrder = !areNew || keys.every((key, at) => at === 0 || (keys[at - 1] ?? '') <= key);
  if (!isInOrder) return canonicalSnapshot({ ...snapshot, placements: inOrder(snapshot.placements) });
  const decisions = withoutOrphans(snapshot.decisions, new Set(keys));
  return { snapshot: decisions === snapshot.decisions ? snapshot : { ...snapshot, decisions }, keys };
}

function keysOf(
  placements: readonly Placement[],
  before: CanonicalSnapshot | undefined,
): { readonly keys: readonly string[]; readonly areNew: boolean } {
  const known = before?.snapshot.placements ?? [];
  let areNew = known.length !== placements.length;
  const keys = placements.map((placement, at) => {
    if (known[at] === placement) return before?.keys[at] as string;
    const key = namespacedName(placement.metadata);
    areNew ||= key !== before?.keys[at];
    return key;
  });
  return areNew ? { keys, areNew } : { keys: before?.keys ?? keys, areNew };
}

function inOrder(placements: readonly Placement[]): readonly Placement[] {
  const keyed = placements.map((placement) => [namespacedName(placement.metadata), placement] as const);
  return keyed.sort(([a], [b]) => compareText(a, b)).map(([, placement]) => placement);
}

/** The garbage collector never deletes pages without an owner, so the snapshot keeps them. */
function withoutOrphans(
  decisions: readonly PlacementDecision[],
  keys: ReadonlySet<string>,
): readonly PlacementDecision[] {
  const isOrphan = (page: PlacementDecision): boolean => {
    if (!isOwned(page)) return false;
    const owner = decisionOwner(page);
    return owner !== undefined && !keys.has(owner);
  };
  return decisions.some(isOrphan) ? decisions.filter((page) => !isOrphan(page)) : decisions;
}

/** The kinds of objects that own pages. */
const OWNERS = ['Placement', 'Namespace'];

/**
 * Whether the page has an owner whose deletion deletes it. Pages of Berth have two owners: their
 * placement and their namespace. When the placement is deleted, the garbage collector removes its
 * owner reference, and the namespace remains.
 */
function isOwned({ metadata }: PlacementDecision): boolean {
  return metadata.ownerReferences?.some(({ kind }) => OWNERS.includes(kind)) === true;
}

/**
 * The snapshot with these clusters published for some placements. One PlacementDecision per
 * placement lists all of its clusters, because a scheduler reads only the names. All other
 * decisions are unchanged and keep their order.
 * @param outcomes clusters by `namespace/name` of the placement
 */
export function withPublishedClusters(
  snapshot: Snapshot,
  outcomes: ReadonlyMap<string, readonly string[]>,
): Snapshot {
  if (outcomes.size === 0) return snapshot;
  const open = new Map(outcomes);
  const decisions = snapshot.decisions.flatMap((page) => {
    const owner = decisionOwner(page);
    if (owner === undefined || !outcomes.has(owner)) return page;
    const clusters = open.get(owner);
    open.delete(owner);
    return clusters === undefined || clusters.length === 0 ? [] : decisionOf(owner, clusters, page);
  });
  for (const [owner, clusters] of open) if (clusters.length > 0) decisions.push(decisionOf(owner, clusters));
  return { ...snapshot, decisions };
}

function decisionOf(owner: string, clusters: readonly string[], page?: PlacementDecision): PlacementDecision {
  const slash = owner.indexOf('/');
  const [namespace, name] = [owner.slice(0, slash), owner.slice(slash + 1)];
  const metadata = page?.metadata ?? {
    name: `${name}-decision-1`,
    namespace,
    labels: { [PLACEMENT_LABEL]: name },
  };
  return pageOfClusters(
    { apiVersion: apiVersionOf(PLACEMENT_DECISION), kind: 'PlacementDecision', metadata },
    clusters,
  );
}
