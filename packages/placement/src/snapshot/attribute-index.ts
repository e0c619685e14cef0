import type { Requirement } from '@berth/kube/model/selector/label-selector-requirement';
import { matchesRequirement } from '@berth/kube/model/selector/label-selector-requirement';
import type { Bitset } from './bitset.ts';
import {
  hasBit,
  intersectWith,
  makeBitset,
  makeFullBitset,
  putBit,
  subtractFrom,
  uniteWith,
} from './bitset.ts';

/** The value of one key (a label, a claim) on cluster number `index`; undefined when the cluster has no such key. */
export type ReadAttribute = (index: number, key: string) => string | undefined;

const ABSENT = 0;

/**
 * Clusters by key and value. A key is indexed when a selector first uses it: one number per cluster
 * (the id of the value), and one bitset per requested value. So a key with as many values as
 * clusters costs no more than any other.
 */
export class AttributeIndex {
  readonly #size: number;
  readonly #read: ReadAttribute;
  readonly #keys = new Map<string, KeyIndex>();

  constructor(size: number, read: ReadAttribute) {
    this.#size = size;
    this.#read = read;
  }

  /** Clusters that satisfy all requirements; a fresh set that the caller may change. */
  select(requirements: readonly Requirement[]): Bitset {
    const result = makeFullBitset(this.#size);
    for (const requirement of requirements) {
      const { operator } = requirement;
      if (operator === 'NotIn' || operator === 'DoesNotExist')
        subtractFrom(
          result,
          this.#having(requirement, operator === 'NotIn' ? requirement.values : undefined),
        );
      else if (operator === 'Gt' || operator === 'Lt') this.#keepComparing(result, requirement);
      else
        intersectWith(result, this.#having(requirement, operator === 'In' ? requirement.values : undefined));
    }
    return result;
  }

  /** Clusters whose `key` has exactly this value. Shared: do not change it. */
  withValue(key: string, value: string): Bitset {
    return this.#key(key).bitsOf(value);
  }

  /** A number per cluster: 0 when the key is absent, else one number per distinct value. */
  column(key: string): Int32Array {
    return this.#key(key).column;
  }

  /** The number that `column` uses for a value. */
  valueNumber(key: string, value: string): number {
    return this.#key(key).id(value);
  }

  /** Brings all indexed keys of one cluster up to date after its object changed. */
  refresh(index: number): void {
    for (const [key, keyIndex] of this.#keys) keyIndex.put(index, this.#read(index, key));
  }

  #having(requirement: Requirement, values: readonly string[] | undefined): Bitset {
    const keyIndex = this.#key(requirement.key);
    if (values === undefined) return keyIndex.present;
    if (values.length === 1) return keyIndex.bitsOf(values[0] as string);
    const union = makeBitset(this.#size);
    for (const value of values) uniteWith(union, keyIndex.bitsOf(value));
    return union;
  }

  #keepComparing(result: Bitset, requirement: Requirement): void {
    for (let i = 0; i < this.#size; i++) {
      if (!hasBit(result, i)) continue;
      const value = this.#read(i, requirement.key);
      const labels = value === undefined ? {} : { [requirement.key]: value };
      putBit(result, i, matchesRequirement(requirement, labels));
    }
  }

  #key(key: string): KeyIndex {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    const fresh = new KeyIndex(this.#size);
    for (let i = 0; i < this.#size; i++) fresh.put(i, this.#read(i, key));
    this.#keys.set(key, fresh);
    return fresh;
  }
}

class KeyIndex {
  readonly column: Int32Array;
  readonly present: Bitset;
  readonly #idOf = new Map<string, number>();
  readonly #bits = new Map<number, Bitset>();

  constructor(size: number) {
    this.column = new Int32Array(size);
    this.present = makeBitset(size);
  }

  put(index: number, value: string | undefined): void {
    const before = this.column[index] as number;
    const after = value === undefined ? ABSENT : this.id(value);
    if (before === after) return;
    this.column[index] = after;
    putBit(this.present, index, after !== ABSENT);
    const left = this.#bits.get(before);
    if (left !== undefined) putBit(left, index, false);
    const joined = this.#bits.get(after);
    if (joined !== undefined) putBit(joined, index, true);
  }

  bitsOf(value: string): Bitset {
    const id = this.id(value);
    const known = this.#bits.get(id);
    if (known !== undefined) return known;
    const bits = makeBitset(this.column.length);
    for (let i = 0; i < this.column.length; i++) if (this.column[i] === id) putBit(bits, i, true);
    this.#bits.set(id, bits);
    return bits;
  }

  id(value: string): number {
    const known = this.#idOf.get(value);
    if (known !== undefined) return known;
    const id = this.#idOf.size + 1;
    this.#idOf.set(value, id);
    return id;
  }
}
