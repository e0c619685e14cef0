import { crc32 } from 'node:zlib';

/**
 * A file of entries, each with its length and checksum, after a header line with the version of its
 * writer: `berth-cache 1 STAMP\n` and then `KEY LENGTH CRC32\n` with LENGTH bytes and a line break,
 * repeatedly. It is not synced; entries damaged by a crash are detected and count as absent.
 */
export interface CacheEntry {
  /** Letters and digits only. */
  readonly key: string;
  readonly bytes: Buffer;
}

export function encodeSegment(stamp: string, entries: readonly CacheEntry[]): Buffer {
  const parts: Buffer[] = [Buffer.from(`${headerOf(stamp)}\n`)];
  for (const { key, bytes } of entries)
    parts.push(Buffer.from(`${key} ${bytes.length} ${crc32(bytes).toString(16)}\n`), bytes, LINE_BREAK);
  return Buffer.concat(parts);
}

/** The intact entries of a segment; undefined if another version wrote it. */
export function decodeSegment(stamp: string, content: Buffer): CacheEntry[] | undefined {
  const headerEnd = content.indexOf(0x0a);
  if (headerEnd === -1 || content.toString('latin1', 0, headerEnd) !== headerOf(stamp)) return undefined;
  const entries: CacheEntry[] = [];
  let at = headerEnd + 1;
  while (at < content.length) {
    const lineEnd = content.indexOf(0x0a, at);
    if (lineEnd === -1) break;
    const line = /^([A-Za-z0-9]+) (\d{1,10}) ([0-9a-f]{1,8})$/.exec(content.toString('latin1', at, lineEnd));
    // Without a length, the start of the next entry is unknown.
    if (line === null) break;
    const [, key = '', length, checksum = ''] = line;
    const start = lineEnd + 1;
    const end = start + Number(length);
    if (end >= content.length || content[end] !== 0x0a) break;
    const bytes = content.subarray(start, end);
    if (crc32(bytes) === Number.parseInt(checksum, 16)) entries.push({ key, bytes });
    at = end + 1;
  }
  return entries;
}

const LINE_BREAK = Buffer.from('\n');

function headerOf(stamp: string): string {
  return `berth-cache 1 ${stamp}`;
}
