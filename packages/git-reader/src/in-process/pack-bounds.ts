import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { inflateSync } from 'node:zlib';
import { InputError, TransientError } from '@berth/runtime/errors';

/** Maximum size of an object that is inflated in this process. */
export const MAX_OBJECT_BYTES = 64 * 1024 ** 2;
const HEADER_BYTES = 12;
const TRAILER_BYTES = 20;
const [OFS_DELTA, REF_DELTA] = [6, 7];
/** The event loop gets a turn after this many objects, or bytes. */
const OBJECTS_PER_TURN = 500;
const BYTES_PER_TURN = 8 * 1024 ** 2;

/**
 * Checks a pack before isomorphic-git inflates it without limits: a few kilobytes can inflate to
 * gigabytes. An incomplete pack is refused, because its missing objects would never be requested
 * again. Source: git `Documentation/gitformat-pack.adoc`.
 * @throws InputError `git.too-large` for an object that is larger than the limit or than its header
 * declares, TransientError `git.failed` for an incomplete pack
 */
export async function checkPackBounds(
  pack: Buffer,
  subject: string,
  maxBytes = MAX_OBJECT_BYTES,
): Promise<void> {
  await requireComplete(pack, subject);
  const count = pack.readUInt32BE(8);
  let offset = HEADER_BYTES;
  for (let object = 0; object < count && offset < pack.length - TRAILER_BYTES; object++) {
    if (object % OBJECTS_PER_TURN === 0) await setImmediate();
    const type = ((pack[offset] ?? 0) >> 4) & 7;
    const declared = readSize(pack, offset, 4);
    offset = declared.end;
    if (type === OFS_DELTA) offset = readSize(pack, offset, 7).end;
    if (type === REF_DELTA) offset += 20;
    if (declared.size > maxBytes) throw tooLarge(subject, maxBytes);
    const { content, consumed } = inflateWithin(pack.subarray(offset), declared.size, () =>
      tooLarge(subject, maxBytes),
    );
    if (type === OFS_DELTA || type === REF_DELTA) {
      const base = readSize(content, 0, 7);
      if (Math.max(base.size, readSize(content, base.end, 7).size) > maxBytes)
        throw tooLarge(subject, maxBytes);
    }
    offset += consumed;
  }
}

/**
 * A pack ends with the SHA-1 of its content.
 * @throws TransientError `git.failed` for another hash
 */
async function requireComplete(pack: Buffer, subject: string): Promise<void> {
  const end = Math.max(pack.length - TRAILER_BYTES, 0);
  const hash = createHash('sha1');
  for (let offset = 0; offset < end; offset += BYTES_PER_TURN) {
    hash.update(pack.subarray(offset, Math.min(offset + BYTES_PER_TURN, end)));
    await setImmediate();
  }
  if (end < HEADER_BYTES || !hash.digest().equals(pack.subarray(end)))
    throw new TransientError('the remote sent a pack that is cut off or damaged', {
      code: 'git.failed',
      subject,
    });
}

/**
 * The inflated content, and the number of bytes that it was inflated from.
 * @throws what `refusal` returns, if the content is larger than `size`
 */
function inflateWithin(bytes: Buffer, size: number, refusal: () => InputError) {
  try {
    const { buffer, engine } = inflateSync(bytes, {
      info: true,
      maxOutputLength: Math.max(size, 1),
    }) as unknown as { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
    return { content: buffer, consumed: engine.bytesWritten };
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? refusal() : error;
  }
}

/** A number with seven bits in each byte, lowest first, after the `firstBits` of the first byte. */
function readSize(bytes: Buffer, start: number, firstBits: 4 | 7): { size: number; end: number } {
  let [offset, byte] = [start + 1, bytes[start] ?? 0];
  let size = byte & (2 ** firstBits - 1);
  for (let weight = 2 ** firstBits; byte >= 0x80; weight *= 128) {
    byte = bytes[offset++] ?? 0;
    size += (byte & 0x7f) * weight;
  }
  return { size, end: offset };
}

function tooLarge(subject: string, maxBytes: number): InputError {
  return new InputError(
    `contains an object of more than ${maxBytes} bytes, which is too large to read in process`,
    {
      code: 'git.too-large',
      subject,
      hint: 'install git, or point the source at a repository without such files',
    },
  );
}
