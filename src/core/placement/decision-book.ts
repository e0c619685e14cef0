import type { PlacementDecision } from '../model/placement-decision.ts';
import { PLACEMENT_LABEL } from '../model/placement-decision.ts';
import type { Fleet } from '../snapshot/fleet.ts';

/**
 * The current decisions of all placements, as cluster numbers, with a count per cluster kept at every change: what
 * Balance, Steady and NoSelectIfNew read. Clusters that are decided but not in the fleet get numbers above it.
 */
export class DecisionBook {
  readonly #fleet: Fleet;
  readonly #own = new Map<string, Uint32Array>();
  readonly #strangers = new Map<string, number>();
  readonly #strangerNames: string[] = [];
  #counts: Int32Array;
  /** How many clusters are decided exactly so many times; index 0 is not kept. */
  #frequency = new Int32Array(64);
  #most = 0;

  constructor(fleet: Fleet, decisions: readonly PlacementDecision[]) {
    this.#fleet = fleet;
    this.#counts = new Int32Array(fleet.size + 16);
    const names = new Map<string, string[]>();
    for (const decision of decisions) {
      const key = decisionOwner(decision) ?? '';
      const list = names.get(key) ?? [];
      for (const { clusterName } of decision.status?.decisions ?? []) list.push(clusterName);
      names.set(key, list);
    }
    for (const [key, list] of names) this.put(key, this.numbersOf(list));
  }

  /** How often each cluster is decided. Shared: read only. */
  get counts(): Int32Array {
    return this.#counts;
  }

  /** The largest count. */
  get most(): number {
    return this.#most;
  }

  own(key: string): Uint32Array {
    return this.#own.get(key) ?? NOTHING;
  }

  /** Replaces the decisions of one placement. */
  put(key: string, numbers: Uint32Array): void {
    this.take(key);
    for (let i = 0; i < numbers.length; i++) this.#count(numbers[i] as number, 1);
    this.#own.set(key, numbers);
  }

  /** Takes the decisions of one placement out of the counts and answers them. */
  take(key: string): Uint32Array {
    const numbers = this.own(key);
    for (let i = 0; i < numbers.length; i++) this.#count(numbers[i] as number, -1);
    this.#own.delete(key);
    while (this.#most > 0 && this.#frequency[this.#most] === 0) this.#most--;
    return numbers;
  }

  numbersOf(names: readonly string[]): Uint32Array {
    return Uint32Array.from(names, (name) => this.#fleet.numberOf(name) ?? this.#strangerNumber(name));
  }

  /** Name of a number from this book. */
  nameOf(number: number): string {
    if (number < this.#fleet.size) return this.#fleet.names[number] as string;
    return this.#strangerNames[number - this.#fleet.size] ?? '';
  }

  /** All decisions as objects, one per placement, not cut into pages. */
  objects(): PlacementDecision[] {
    return [...this.#own].map(([key, numbers]) => {
      const slash = key.indexOf('/');
      const labels = slash < 0 ? {} : { [PLACEMENT_LABEL]: key.slice(slash + 1) };
      const decisions = Array.from(numbers, (number) => ({ clusterName: this.nameOf(number), reason: '' }));
      return {
        apiVersion: 'cluster.open-cluster-management.io/v1beta1',
        kind: 'PlacementDecision',
        metadata: { name: key.slice(slash + 1), namespace: key.slice(0, Math.max(0, slash)), labels },
        status: { decisions },
      };
    });
  }

  #strangerNumber(name: string): number {
    const known = this.#strangers.get(name);
    if (known !== undefined) return known;
    const number = this.#fleet.size + this.#strangers.size;
    this.#strangers.set(name, number);
    this.#strangerNames.push(name);
    if (number >= this.#counts.length) this.#counts = grown(this.#counts);
    return number;
  }

  #count(number: number, step: 1 | -1): void {
    const before = this.#counts[number] as number;
    const after = before + step;
    this.#counts[number] = after;
    if (after >= this.#frequency.length) this.#frequency = grown(this.#frequency);
    if (before > 0) this.#frequency[before] = (this.#frequency[before] as number) - 1;
    if (after > 0) this.#frequency[after] = (this.#frequency[after] as number) + 1;
    if (after > this.#most) this.#most = after;
  }
}

const NOTHING = new Uint32Array(0);

function grown(array: Int32Array): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(array.length * 2);
  longer.set(array);
  return longer;
}

/** `namespace/placement` of the placement that a decision belongs to; undefined: of none, it only counts for Balance. */
export function decisionOwner({ metadata }: PlacementDecision): string | undefined {
  const labels = metadata.labels;
  if (labels === undefined || !Object.hasOwn(labels, PLACEMENT_LABEL)) return undefined;
  return `${metadata.namespace ?? ''}/${labels[PLACEMENT_LABEL]}`;
}
