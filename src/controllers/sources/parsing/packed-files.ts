/** The bytes of several files in sequence, and the length of each. */
export interface PackedFiles {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengths: readonly number[];
}

export function packFiles(parts: readonly Buffer[]): PackedFiles {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return { bytes, lengths: parts.map((part) => part.length) };
}

export function unpackFiles({ bytes, lengths }: PackedFiles): Buffer[] {
  let at = 0;
  return lengths.map((length) => {
    const part = Buffer.from(bytes.buffer, bytes.byteOffset + at, length);
    at += length;
    return part;
  });
}
