/**
 * Buffers that one decision after the other uses again: a fleet's decisions would otherwise spend more time on
 * allocating and collecting large arrays than on scoring. What a buffer holds is valid until it is next used.
 */
export class ScratchBuffers {
  readonly #floats: Float64Array[] = [];
  readonly #size: number;
  /** One number per cluster; the same for the next two. */
  readonly clusters: Uint32Array;
  readonly places: Uint32Array;
  readonly placeTotals: Float64Array;
  /** One byte per cluster; a user that sets some clears them again. */
  readonly marks: Uint8Array;

  constructor(size: number) {
    this.#size = size;
    this.clusters = new Uint32Array(size);
    this.places = new Uint32Array(size);
    this.placeTotals = new Float64Array(size);
    this.marks = new Uint8Array(size);
  }

  /** `count` floats of undefined content; different slots do not overlap. */
  floats(slot: number, count: number): Float64Array {
    const buffer = (this.#floats[slot] ??= new Float64Array(this.#size));
    return buffer.subarray(0, count);
  }
}
