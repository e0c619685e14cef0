/** A set of small integers (cluster numbers) as bits. The sets of one operation have the same length. */
export type Bitset = Uint32Array;

export function makeBitset(size: number): Bitset {
  return new Uint32Array((size + 31) >>> 5);
}

/** The set of all numbers below `size`; the unused bits of the last word stay 0. */
export function makeFullBitset(size: number): Bitset {
  const bits = makeBitset(size).fill(0xffffffff);
  if ((size & 31) !== 0) bits[bits.length - 1] = (1 << (size & 31)) - 1;
  return bits;
}

export function hasBit(bits: Bitset, index: number): boolean {
  return ((bits[index >>> 5] as number) & (1 << (index & 31))) !== 0;
}

export function putBit(bits: Bitset, index: number, present: boolean): void {
  const word = index >>> 5;
  const mask = 1 << (index & 31);
  bits[word] = present ? (bits[word] as number) | mask : (bits[word] as number) & ~mask;
}

/** Adds the numbers of `source` from `from` on, `length` numbers, to `target` as the numbers from `to` on. */
export function copyBits(
  source: Bitset,
  target: Bitset,
  { from, to, length }: { readonly from: number; readonly to: number; readonly length: number },
): void {
  for (let done = 0; done < length; ) {
    const [read, write] = [from + done, to + done];
    const count = Math.min(length - done, 32 - (read & 31), 32 - (write & 31));
    const mask = count === 32 ? 0xffffffff : (1 << count) - 1;
    const bits = ((source[read >>> 5] as number) >>> (read & 31)) & mask;
    target[write >>> 5] = (target[write >>> 5] as number) | (bits << (write & 31));
    done += count;
  }
}

/** target = target ∩ other */
export function intersectWith(target: Bitset, other: Bitset): void {
  for (let i = 0; i < target.length; i++) target[i] = (target[i] as number) & (other[i] as number);
}

/** target = target ∪ other */
export function uniteWith(target: Bitset, other: Bitset): void {
  for (let i = 0; i < target.length; i++) target[i] = (target[i] as number) | (other[i] as number);
}

/** target = target ∖ other */
export function subtractFrom(target: Bitset, other: Bitset): void {
  for (let i = 0; i < target.length; i++) target[i] = (target[i] as number) & ~(other[i] as number);
}

export function countBits(bits: Bitset): number {
  let count = 0;
  for (let i = 0; i < bits.length; i++) {
    let word = bits[i] as number;
    word -= (word >>> 1) & 0x55555555;
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
    count += (((word + (word >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
  }
  return count;
}

/**
 * Writes the numbers in ascending order to `out`, which must be long enough.
 * @returns their number
 */
export function readBits(bits: Bitset, out: Uint32Array): number {
  let count = 0;
  for (let i = 0; i < bits.length; i++) {
    let word = bits[i] as number;
    const base = i << 5;
    while (word !== 0) {
      const lowest = word & -word;
      out[count++] = base + (31 - Math.clz32(lowest));
      word ^= lowest;
    }
  }
  return count;
}

/** The numbers in ascending order. */
export function bitsToArray(bits: Bitset): Uint32Array {
  const out = new Uint32Array(countBits(bits));
  readBits(bits, out);
  return out;
}
