import type { SpreadConstraint } from '../../model/kind/placement.ts';

/**
 * Selection under spread constraints: clusters are selected one at a time. Each step considers the clusters that no
 * DoNotSchedule constraint forbids, and selects the one that keeps the ScheduleAnyway constraints best (the first
 * listed counts most); of equal ones the best ranked. A constraint is kept when taking the cluster leaves its
 * topology value at most maxSkew above the smallest count over all values that the selectable clusters have.
 *
 * Clusters with the same values for all constraints differ by rank only, so one queue per combination of values is
 * enough: a pick looks at the heads of the queues, not at all clusters.
 */
export interface SpreadInput {
  /** Entries, best first. */
  readonly ranked: Uint32Array;
  readonly limit: number;
  readonly constraints: readonly ActiveConstraint[];
}

/** A constraint and, per entry, a number for its topology value; 0 when the cluster has no such key. */
export interface ActiveConstraint {
  readonly constraint: SpreadConstraint;
  readonly values: Int32Array;
}

export interface SpreadOutcome {
  /** The taken entries in the order of their rank. */
  readonly taken: Uint32Array;
  /** Per constraint, in listed order: largest minus smallest count over the values present. */
  readonly skews: readonly number[];
}

export const isHardConstraint = ({ whenUnsatisfiable }: SpreadConstraint): boolean =>
  whenUnsatisfiable === 'DoNotSchedule';
export const maxSkewOf = ({ maxSkew }: SpreadConstraint): number => Math.max(1, maxSkew ?? 1);

export function selectSpread({ ranked, limit, constraints }: SpreadInput): SpreadOutcome {
  const counters = constraints.map(({ constraint }) => new ValueCounter(constraint));
  const queues = queuesOf(ranked, constraints);
  for (const queue of queues) counters.forEach((counter, c) => counter.present(queue.values[c] as number));
  const taken: number[] = [];
  while (taken.length < limit) {
    const queue = nextQueue(queues, counters);
    if (queue === undefined) break;
    taken.push(queue.ranks[queue.head++] as number);
    counters.forEach((counter, c) => counter.add(queue.values[c] as number));
  }
  taken.sort((left, right) => left - right);
  return {
    taken: Uint32Array.from(taken, (rank) => ranked[rank] as number),
    skews: counters.map((counter) => counter.skew),
  };
}

interface Queue {
  readonly values: readonly number[];
  /** Ranks of its clusters, ascending. */
  readonly ranks: number[];
  head: number;
}

/** Clusters without the key of a DoNotSchedule constraint are in no queue: they are not selectable. */
function queuesOf(ranked: Uint32Array, constraints: readonly ActiveConstraint[]): Queue[] {
  const queues = new Map<string, Queue>();
  for (let rank = 0; rank < ranked.length; rank++) {
    const entry = ranked[rank] as number;
    const values = constraints.map((one) => one.values[entry] as number);
    if (constraints.some(({ constraint }, c) => isHardConstraint(constraint) && values[c] === 0)) continue;
    const key = values.join();
    const queue = queues.get(key) ?? { values, ranks: [], head: 0 };
    queue.ranks.push(rank);
    queues.set(key, queue);
  }
  return [...queues.values()];
}

function nextQueue(queues: readonly Queue[], counters: readonly ValueCounter[]): Queue | undefined {
  let best: { queue: Queue; kept: string; rank: number } | undefined;
  for (const queue of queues) {
    const rank = queue.ranks[queue.head];
    if (rank === undefined) continue;
    // '1' per constraint that is kept, in listed order: the larger text is the better choice.
    let kept = '';
    let forbidden = false;
    counters.forEach((counter, c) => {
      const keeps = counter.keeps(queue.values[c] as number);
      if (!keeps && isHardConstraint(counter.constraint)) forbidden = true;
      kept += keeps ? '1' : '0';
    });
    if (forbidden) continue;
    if (best === undefined || kept > best.kept || (kept === best.kept && rank < best.rank))
      best = { queue, kept, rank };
  }
  return best?.queue;
}

/** How many clusters were taken per topology value. The value 0 (no key) is never counted and never keeps the skew. */
class ValueCounter {
  readonly constraint: SpreadConstraint;
  readonly #counts = new Map<number, number>();
  #smallest = 0;
  #atSmallest = 0;

  constructor(constraint: SpreadConstraint) {
    this.constraint = constraint;
  }

  present(value: number): void {
    if (value === 0 || this.#counts.has(value)) return;
    this.#counts.set(value, 0);
    this.#atSmallest++;
  }

  keeps(value: number): boolean {
    if (value === 0) return false;
    return (this.#counts.get(value) ?? 0) + 1 - this.#smallest <= maxSkewOf(this.constraint);
  }

  add(value: number): void {
    if (value === 0) return;
    const count = this.#counts.get(value) ?? 0;
    this.#counts.set(value, count + 1);
    if (count !== this.#smallest || --this.#atSmallest > 0) return;
    this.#smallest++;
    for (const other of this.#counts.values()) if (other === this.#smallest) this.#atSmallest++;
  }

  get skew(): number {
    return this.#counts.size === 0 ? 0 : Math.max(...this.#counts.values()) - this.#smallest;
  }
}
