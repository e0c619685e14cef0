import { MAX_TOTAL } from '../prioritize/whole-totals.ts';

/**
 * Buffers that one decision after the other uses again: a fleet's decisions would otherwise spend more time on
 * allocating and collecting large arrays than on scoring. What a buffer holds is valid until it is next used.
 */
export class ScratchBuffers {
  readonly #floats: Float64Array[] = [];
  readonly #size: number;
  /** One number per cluster; the same for the next three. */
  readonly clusters: Uint32Array;
  readonly places: Uint32Array;
  readonly placeTotals: Float64Array;
  readonly totals: Int32Array;
  /** One number per total that can be counted. */
  readonly levels = new Uint32Array(2 * MAX_TOTAL + 2);
  /** One byte per cluster: read only. */
  readonly zeros: Int8Array;
  /** One byte per cluster; a user that sets some clears them again. */
  readonly marks: Uint8Array;

  constructor(size: number) {
    this.#size = size;
    this.clusters = new Uint32Array(size);
    this.places = new Uint32Array(size);
    this.placeTotals = new Float64Array(size);
    this.totals = new Int32Array(size);
    this.zeros = new Int8Array(size);
    this.marks = new Uint8Array(size);
  }

  /** `count` floats of undefined content; different slots do not overlap. */
  floats(slot: number, count: number): Float64Array {
    const buffer = (this.#floats[slot] ??= new Float64Array(this.#size));
    return buffer.subarray(0, count);
  }
}
