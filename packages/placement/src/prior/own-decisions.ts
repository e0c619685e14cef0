import { type Bitset, bitsToArray, hasBit, makeBitset, putBit } from '../snapshot/bitset.ts';

/** The decisions of one placement, as cluster numbers. */
export interface OwnDecisions {
  /** The clusters that are in the fleet. */
  readonly bits: Bitset;
  /** The clusters that are not in the fleet. Their numbers are above its size. */
  readonly gone: ReadonlySet<number>;
  /**
   * Clusters that are listed more than once, once for each further listing. Only decisions of other
   * writers have them.
   */
  readonly repeats: readonly number[];
}

/** The difference between two lists of decisions. */
export interface OwnDecisionChange {
  readonly gained: readonly number[];
  readonly lost: readonly number[];
}

export function makeOwnDecisions(numbers: Uint32Array, fleetSize: number): OwnDecisions {
  const bits = makeBitset(fleetSize);
  // Both are nearly always empty, so they are created only when needed.
  let gone: Set<number> | undefined;
  let repeats: number[] | undefined;
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i] as number;
    if (number < fleetSize ? hasBit(bits, number) : gone?.has(number) === true) (repeats ??= []).push(number);
    else if (number < fleetSize) putBit(bits, number, true);
    else (gone ??= new Set()).add(number);
  }
  return { bits, gone: gone ?? NO_CLUSTERS, repeats: repeats ?? NOTHING };
}

/** All listed clusters, including repeats. */
export function listDecisions({ bits, gone, repeats }: OwnDecisions): Uint32Array {
  const here = bitsToArray(bits);
  if (gone.size + repeats.length === 0) return here;
  return Uint32Array.from([...here, ...gone, ...repeats]);
}

/** Whether two lists have the same clusters. */
export function sameDecisions(left: OwnDecisions, right: OwnDecisions): boolean {
  if (left === right) return true;
  if (left.repeats.length + right.repeats.length > 0 || left.gone.size !== right.gone.size) return false;
  for (const number of left.gone) if (!right.gone.has(number)) return false;
  return sameBits(left.bits, right.bits);
}

function sameBits(left: Bitset, right: Bitset): boolean {
  if (left === right) return true;
  for (let word = 0; word < left.length; word++) if (left[word] !== right[word]) return false;
  return true;
}

export function diffOwnDecisions(before: OwnDecisions, after: OwnDecisions): OwnDecisionChange {
  const gained = [...without(after.gone, before.gone), ...after.repeats];
  const lost = [...without(before.gone, after.gone), ...before.repeats];
  if (before.bits === after.bits) return { gained, lost };
  for (let word = 0; word < before.bits.length; word++) {
    let differing = (before.bits[word] as number) ^ (after.bits[word] as number);
    while (differing !== 0) {
      const lowest = differing & -differing;
      const number = (word << 5) + (31 - Math.clz32(lowest));
      (hasBit(after.bits, number) ? gained : lost).push(number);
      differing ^= lowest;
    }
  }
  return { gained, lost };
}

const NOTHING: readonly number[] = [];
const NO_CLUSTERS: ReadonlySet<number> = new Set();

function without(numbers: ReadonlySet<number>, others: ReadonlySet<number>): readonly number[] {
  return numbers.size === 0 ? NOTHING : [...numbers].filter((number) => !others.has(number));
}
