import { open } from 'node:fs/promises';
import { decodeRecord, extendDigest, LOG_START, type LogPosition, type LogRecord } from './log-record.ts';

const CHUNK_BYTES = 4 * 1024 * 1024;
const LINE_FEED = 0x0a;

/** How a file of records ended. */
export type RecordsEnd =
  | { readonly kind: 'intact'; readonly bytes: number; readonly digest: number }
  /**
   * The last write is incomplete: everything from `offset` on is invalid, and no intact record
   * follows.
   */
  | { readonly kind: 'torn'; readonly offset: number; readonly bytes: number; readonly digest: number }
  /** A record is broken although intact records follow it. */
  | { readonly kind: 'damaged'; readonly offset: number; readonly line: number };

/**
 * Reads a log segment or snapshot record by record; `onRecord` gets every record before the first
 * broken one, and where the file is after it.
 * @returns how it ended; `digest` is that of the intact records
 */
export async function readRecords(
  path: string,
  onRecord: (record: LogRecord, after: LogPosition) => void,
): Promise<RecordsEnd> {
  let { digest } = LOG_START;
  let broken: { offset: number; line: number } | undefined;
  let line = 0;
  const tail = await forEachLine(path, (bytes, offset) => {
    line += 1;
    const record = decodeRecord(bytes);
    if (broken === undefined && record !== undefined) {
      digest = extendDigest(digest, bytes.toString('latin1', 0, 8));
      onRecord(record, { bytes: offset + bytes.length + 1, digest });
      return true;
    }
    broken ??= { offset, line };
    // An intact record follows a broken one, so this is not a torn tail. Stop reading.
    return record === undefined;
  });
  if (tail.stopped && broken !== undefined) return { kind: 'damaged', ...broken };
  const torn = broken?.offset ?? (tail.restBytes > 0 ? tail.bytes - tail.restBytes : undefined);
  return torn === undefined
    ? { kind: 'intact', bytes: tail.bytes, digest }
    : { kind: 'torn', offset: torn, bytes: tail.bytes, digest };
}

interface Tail {
  readonly bytes: number;
  /** Bytes after the last line feed. */
  readonly restBytes: number;
  readonly stopped: boolean;
}

/** Uses one buffer for the file, which grows only for longer lines. */
async function forEachLine(path: string, onLine: (line: Buffer, offset: number) => boolean): Promise<Tail> {
  const handle = await open(path, 'r');
  try {
    let buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let filled = 0;
    /** Offset of the buffer in the file. */
    let offset = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled);
      if (bytesRead === 0) return { bytes: offset + filled, restBytes: filled, stopped: false };
      filled += bytesRead;
      const data = buffer.subarray(0, filled);
      let start = 0;
      for (let end = data.indexOf(LINE_FEED); end >= 0; end = data.indexOf(LINE_FEED, start)) {
        if (!onLine(data.subarray(start, end), offset + start))
          return { bytes: offset, restBytes: 0, stopped: true };
        start = end + 1;
      }
      buffer.copyWithin(0, start, filled);
      offset += start;
      filled -= start;
      if (filled === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
    }
  } finally {
    await handle.close();
  }
}
