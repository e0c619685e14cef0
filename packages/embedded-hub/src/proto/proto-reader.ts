/** A body that is no valid protobuf. Caught where the request is decoded. */
export class ProtoError extends Error {}

/** Reads the wire format: varints, fixed-width numbers, length-delimited parts. Never reads past its end. */
export class ProtoReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** Number of the next field and how its value is written. */
  tag(): { readonly field: number; readonly wire: number } {
    const value = Number(this.varint());
    const field = Math.floor(value / 8);
    if (field < 1) throw new ProtoError('field number 0');
    return { field, wire: value % 8 };
  }

  /** Up to 64 bits, unsigned. */
  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new ProtoError('varint longer than ten bytes');
  }

  /** A 64-bit two's complement number. int32 is written in the same form. */
  integer(): number {
    return Number(BigInt.asIntN(64, this.varint()));
  }

  double(): number {
    const part = this.#take(8);
    return new DataView(part.buffer, part.byteOffset, 8).getFloat64(0, true);
  }

  bytes(): Uint8Array {
    const length = Number(this.varint());
    return this.#take(length);
  }

  /** Skips an unknown value. */
  skip(wire: number): void {
    if (wire === 0) this.varint();
    else if (wire === 1) this.#take(8);
    else if (wire === 2) this.bytes();
    else if (wire === 5) this.#take(4);
    else throw new ProtoError(`wire type ${String(wire)}`);
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new ProtoError('unexpected end');
    this.#at += 1;
    return byte;
  }

  #take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new ProtoError('unexpected end');
    const part = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return part;
  }
}
