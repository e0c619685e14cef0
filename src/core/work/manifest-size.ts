import type { KubeObject } from '../model/object-meta.ts';
import { utf8LengthBytes } from '../model/utf8-length.ts';

/** Upstream's default for the sum over all manifests of a work. */
export const DEFAULT_MANIFEST_LIMIT_BYTES = 500 * 1024;

/** A UTF-16 code unit takes at most three bytes in UTF-8. */
const MOST_BYTES_PER_UNIT = 3;
/** The tag, and the length of a manifest of less than 2^35 bytes. */
const MOST_BYTES_AROUND = 6;

/**
 * What one manifest adds to the size of its work, as the admission counts it: its JSON in UTF-8 as a length-delimited
 * protobuf field (one byte of tag, the length as a varint, the bytes).
 */
export function manifestSizeBytes(manifest: KubeObject): number {
  return fieldSizeBytes(JSON.stringify(manifest));
}

/** The size of the manifests together when it exceeds the limit (bytes), else undefined. */
export function excessiveSizeBytes(manifests: readonly KubeObject[], limit: number): number | undefined {
  const texts = manifests.map((manifest) => JSON.stringify(manifest));
  // Nearly all works are so small that their bytes need not be counted.
  const most = texts.reduce((sum, { length }) => sum + length * MOST_BYTES_PER_UNIT + MOST_BYTES_AROUND, 0);
  if (most <= limit) return undefined;
  const sizeBytes = texts.reduce((sum, text) => sum + fieldSizeBytes(text), 0);
  return sizeBytes > limit ? sizeBytes : undefined;
}

function fieldSizeBytes(text: string): number {
  const rawBytes = utf8LengthBytes(text);
  return rawBytes + 1 + varintLength(rawBytes);
}

function varintLength(value: number): number {
  let length = 1;
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) length += 1;
  return length;
}
