import { MAX_TOTAL } from '../prioritize/integer-totals.ts';

/**
 * Buffers that every decision uses again, with room for all clusters. Without them, a fleet would
 * spend more time on allocating and collecting large arrays than on scoring. The content of a buffer
 * is valid until its next use.
 */
export class ScratchBuffers {
  readonly #floats: Float64Array[] = [];
  readonly #size: number;
  /** The numbers of clusters, ascending. */
  readonly clusters: Uint32Array;
  /** The totals of `clusters`, at the same positions. */
  readonly totals: Int32Array;
  /** The numbers of clusters, best first. */
  readonly ranked: Uint32Array;
  /** The totals of `ranked`, at the same positions. */
  readonly rankedTotals: Float64Array;
  /** One number per total that can be sorted by counting. */
  readonly levels = new Uint32Array(2 * MAX_TOTAL + 2);
  /** One byte per cluster, always 0. Read only. */
  readonly zeros: Int8Array;
  /** One byte per cluster. Code that sets a byte must clear it again. */
  readonly marks: Uint8Array;

  constructor(size: number) {
    this.#size = size;
    this.clusters = new Uint32Array(size);
    this.ranked = new Uint32Array(size);
    this.rankedTotals = new Float64Array(size);
    this.totals = new Int32Array(size);
    this.zeros = new Int8Array(size);
    this.marks = new Uint8Array(size);
  }

  /** A buffer of `count` floats with arbitrary content. Buffers of different slots do not overlap. */
  floats(slot: number, count: number): Float64Array {
    const buffer = (this.#floats[slot] ??= new Float64Array(this.#size));
    return buffer.subarray(0, count);
  }
}
