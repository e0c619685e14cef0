const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;

const FIRST_BYTES = 64 * 1024;

/** Writes the wire format. As in proto3, callers omit zero values. */
export class ProtoWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #at = 0;

  text(field: number, value: string): void {
    const length = Buffer.byteLength(value);
    this.#varint(field * 8 + DELIMITED);
    this.#varint(length);
    this.#reserve(length);
    this.#at += this.#bytes.write(value, this.#at);
  }

  bool(field: number, value: boolean): void {
    this.integer(field, value ? 1 : 0);
  }

  /** A whole number from 0 to 2^53. */
  integer(field: number, value: number): void {
    this.#varint(field * 8 + VARINT);
    this.#varint(value);
  }

  double(field: number, value: number): void {
    this.#varint(field * 8 + FIXED64);
    this.#reserve(8);
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  /** An embedded message, which `write` writes. It is moved once its length is known, which precedes it. */
  message(field: number, write: () => void): void {
    this.#varint(field * 8 + DELIMITED);
    const start = this.#at;
    write();
    const end = this.#at;
    this.#varint(end - start);
    const lengthBytes = this.#at - end;
    const length = Buffer.from(this.#bytes.subarray(end, this.#at));
    this.#bytes.copyWithin(start + lengthBytes, start, end);
    length.copy(this.#bytes, start);
  }

  finish(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#at));
  }

  #varint(value: number): void {
    this.#reserve(10);
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#bytes[this.#at++] = (rest % 0x80) + 0x80;
    this.#bytes[this.#at++] = rest;
  }

  #reserve(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe((this.#at + more) * 2);
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}
