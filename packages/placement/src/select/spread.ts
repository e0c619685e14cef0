import type { SpreadConstraint } from '@berth/ocm/kind/placement';

/**
 * Selects clusters under spread constraints, one cluster at a time. Each step considers the
 * clusters that no DoNotSchedule constraint forbids. It selects the cluster that satisfies the
 * ScheduleAnyway constraints best; the first listed constraint counts most. Among equal clusters it
 * selects the best ranked one. A cluster satisfies a constraint if its topology value, after the
 * cluster is added, has at most maxSkew clusters more than the value with the fewest. All values of
 * the selectable clusters are compared.
 *
 * Clusters with the same values for all constraints differ only in rank. One queue for each
 * combination of values is therefore enough. A step compares the heads of the queues, not all
 * clusters.
 */
export interface SpreadInput {
  /** Entries, best first. */
  readonly ranked: Uint32Array;
  readonly limit: number;
  readonly constraints: readonly ActiveConstraint[];
}

/**
 * A constraint and, for each entry, the number of its topology value; 0 if the cluster does not
 * have the key.
 */
export interface ActiveConstraint {
  readonly constraint: SpreadConstraint;
  readonly values: Int32Array;
}

export interface SpreadOutcome {
  /** The selected entries in rank order. */
  readonly taken: Uint32Array;
  /** For each constraint in listed order, the largest minus the smallest count over all values. */
  readonly skews: readonly number[];
}

export const isHardConstraint = ({ whenUnsatisfiable }: SpreadConstraint): boolean =>
  whenUnsatisfiable === 'DoNotSchedule';
export const maxSkewOf = ({ maxSkew }: SpreadConstraint): number => Math.max(1, maxSkew ?? 1);

export function selectSpread({ ranked, limit, constraints }: SpreadInput): SpreadOutcome {
  const counters = constraints.map(({ constraint }) => new ValueCounter(constraint));
  const queues = queuesOf(ranked, constraints);
  for (const queue of queues) counters.forEach((counter, c) => counter.addValue(queue.values[c] as number));
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
  /** The ranks of the clusters in the queue, ascending. */
  readonly ranks: number[];
  head: number;
}

/**
 * Makes the queues. A cluster without the key of a DoNotSchedule constraint is not selectable and
 * is in no queue.
 */
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
  let best: { queue: Queue; satisfied: string; rank: number } | undefined;
  for (const queue of queues) {
    const rank = queue.ranks[queue.head];
    if (rank === undefined) continue;
    // One character per constraint, '1' if it is satisfied. The larger text is the better choice.
    let satisfied = '';
    let forbidden = false;
    counters.forEach((counter, c) => {
      const isSatisfied = counter.allowsOneMore(queue.values[c] as number);
      if (!isSatisfied && isHardConstraint(counter.constraint)) forbidden = true;
      satisfied += isSatisfied ? '1' : '0';
    });
    if (forbidden) continue;
    if (
      best === undefined ||
      satisfied > best.satisfied ||
      (satisfied === best.satisfied && rank < best.rank)
    )
      best = { queue, satisfied, rank };
  }
  return best?.queue;
}

/**
 * Counts the selected clusters for each topology value. The value 0 (no key) is never counted and
 * never satisfies the constraint.
 */
class ValueCounter {
  readonly constraint: SpreadConstraint;
  readonly #counts = new Map<number, number>();
  #smallest = 0;
  #atSmallest = 0;

  constructor(constraint: SpreadConstraint) {
    this.constraint = constraint;
  }

  addValue(value: number): void {
    if (value === 0 || this.#counts.has(value)) return;
    this.#counts.set(value, 0);
    this.#atSmallest++;
  }

  allowsOneMore(value: number): boolean {
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
