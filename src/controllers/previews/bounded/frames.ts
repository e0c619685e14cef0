import { deserialize, serialize } from 'node:v8';

const HEAD_BYTES = 4;

/** Serialises a value, with its length in bytes in front. Maps, sets and big integers are preserved. */
export function frameOf(value: unknown): Buffer {
  const body = serialize(value);
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}

/** Assembles frames from the chunks of a stream. */
export class FrameReader {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;

  /** @param maxBytes the largest frame that is accepted */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @returns the values that are complete; 'too-large' as soon as a frame announces more than the allowed size */
  push(chunk: Buffer): readonly unknown[] | 'too-large' {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    const values: unknown[] = [];
    for (;;) {
      const needed = this.#needed();
      if (needed > this.#maxBytes + HEAD_BYTES) return 'too-large';
      if (this.#bytes < needed) return values;
      const all = Buffer.concat(this.#chunks);
      values.push(deserialize(all.subarray(HEAD_BYTES, needed)));
      const rest = all.subarray(needed);
      this.#chunks = rest.length === 0 ? [] : [rest];
      this.#bytes = rest.length;
    }
  }

  /** Size of the next frame in bytes, with its header. */
  #needed(): number {
    if (this.#bytes < HEAD_BYTES) return HEAD_BYTES;
    if ((this.#chunks[0]?.length ?? 0) < HEAD_BYTES) this.#chunks = [Buffer.concat(this.#chunks)];
    return HEAD_BYTES + (this.#chunks[0]?.readUInt32BE() ?? 0);
  }
}
