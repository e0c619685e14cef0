import type { KubeObject } from '@berth/kube/model/object-meta';
import { utf8LengthBytes } from '@berth/runtime/text/utf8';

/** Upstream's default for the sum over all manifests of a work. */
export const DEFAULT_MANIFEST_LIMIT_BYTES = 500 * 1024;

/** Maximum size of one UTF-16 code unit in JSON: an escape such as `\u0001`. */
const MAX_BYTES_PER_UNIT = 6;
/** Quotes, a colon and a comma; also enough for `false` with its comma. */
const MAX_BYTES_PER_VALUE = 6;
/** `-1.2345678901234567e-300` */
const MAX_BYTES_PER_NUMBER = 25;
/** The tag, and the length of a manifest of less than 2^35 bytes. */
const MAX_BYTES_AROUND = 6;

/**
 * The size that a manifest adds to its work, as admission counts it: its JSON in UTF-8 as a
 * length-delimited protobuf field (one byte of tag, the length as a varint, the bytes).
 */
export function manifestSizeBytes(manifest: KubeObject): number {
  const rawBytes = utf8LengthBytes(JSON.stringify(manifest));
  return rawBytes + 1 + varintLength(rawBytes);
}

/** The size of the manifests together when it exceeds the limit (bytes), else undefined. */
export function excessiveSizeBytes(manifests: readonly KubeObject[], limit: number): number | undefined {
  // Nearly all works are so small that their JSON need not be made.
  if (maxJsonBytes(manifests) + manifests.length * MAX_BYTES_AROUND <= limit) return undefined;
  const sizeBytes = manifests.reduce((sum, manifest) => sum + manifestSizeBytes(manifest), 0);
  return sizeBytes > limit ? sizeBytes : undefined;
}

/** An upper bound of the length of the value's JSON (bytes). */
function maxJsonBytes(value: unknown): number {
  if (typeof value === 'string') return value.length * MAX_BYTES_PER_UNIT + MAX_BYTES_PER_VALUE;
  if (typeof value === 'number') return MAX_BYTES_PER_NUMBER;
  let bytes = MAX_BYTES_PER_VALUE;
  if (Array.isArray(value)) for (const item of value) bytes += maxJsonBytes(item);
  else if (typeof value === 'object' && value !== null) bytes += maxJsonBytesOfFields(value);
  return bytes;
}

/** Plain JSON inherits no enumerable key; unlike Object.entries, this allocates no list. */
function maxJsonBytesOfFields(object: object): number {
  let bytes = 0;
  for (const key in object)
    bytes +=
      key.length * MAX_BYTES_PER_UNIT +
      MAX_BYTES_PER_VALUE +
      maxJsonBytes((object as Record<string, unknown>)[key]);
  return bytes;
}

function varintLength(value: number): number {
  let length = 1;
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) length += 1;
  return length;
}
