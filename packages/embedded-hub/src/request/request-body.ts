import { setImmediate as nextTurn } from 'node:timers/promises';
import { decodeBody, type DecodedBody } from '../body/decode-body.ts';
import { boundedWork } from '../wire/bounded-work.ts';

/** After decoding a larger body, other requests run before the write. */
const LARGE_BODY_BYTES = 256 * 1024;

/**
 * Decodes the body of a request within a budget of its own.
 * @param type media type; '' means JSON
 * @throws StatusError 400, 413 or 415
 */
export async function decodeWithinBudget(
  bytes: Uint8Array,
  type: string,
  expect?: { readonly kind: string },
): Promise<DecodedBody> {
  const decoded = boundedWork(() => decodeBody(bytes, type, expect));
  if (bytes.length > LARGE_BODY_BYTES) await nextTurn();
  return decoded;
}
