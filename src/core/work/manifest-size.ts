import type { KubeObject } from '../model/object-meta.ts';
import { utf8LengthBytes } from '../model/utf8-length.ts';

/** Upstream's default for the sum over all manifests of a work. */
export const DEFAULT_MANIFEST_LIMIT_BYTES = 500 * 1024;

/**
 * What one manifest adds to the size of its work, as the admission counts it: its JSON in UTF-8 as a length-delimited
 * protobuf field (one byte of tag, the length as a varint, the bytes).
 */
export function manifestSizeBytes(manifest: KubeObject): number {
  const rawBytes = utf8LengthBytes(JSON.stringify(manifest));
  return rawBytes + 1 + varintLength(rawBytes);
}

export function manifestsSizeBytes(manifests: readonly KubeObject[]): number {
  return manifests.reduce((sum, manifest) => sum + manifestSizeBytes(manifest), 0);
}

function varintLength(value: number): number {
  let length = 1;
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) length += 1;
  return length;
}
