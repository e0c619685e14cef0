import { open } from 'node:fs/promises';
import type { LogRecord } from './log-record.ts';
import { decodeRecord } from './log-record.ts';

const CHUNK_BYTES = 4 * 1024 * 1024;
const LINE_FEED = 0x0a;

/** How a file of records ended. */
export type RecordsEnd =
  | { readonly kind: 'intact'; readonly bytes: number }
  /** The last write did not reach the disk whole: everything from `offset` on is worthless, and nothing intact follows. */
  | { readonly kind: 'torn'; readonly offset: number; readonly bytes: number }
  /** Something in the middle is broken although intact records follow it. */
  | { readonly kind: 'damaged'; readonly offset: number; readonly line: number };

/** Reads a log segment or snapshot record by record; `onRecord` gets every record before the first broken one. */
export async function readRecords(path: string, onRecord: (record: LogRecord) => void): Promise<RecordsEnd> {
  let broken: { offset: number; line: number } | undefined;
  let line = 0;
  const tail = await forEachLine(path, (bytes, offset) => {
    line += 1;
    const record = decodeRecord(bytes);
    if (broken === undefined && record !== undefined) {
      onRecord(record);
      return true;
    }
    broken ??= { offset, line };
    // An intact record behind a broken one: this is no torn tail. Stop reading.
    return record === undefined;
  });
  if (tail.stopped && broken !== undefined) return { kind: 'damaged', ...broken };
  const torn = broken?.offset ?? (tail.restBytes > 0 ? tail.bytes - tail.restBytes : undefined);
  return torn === undefined
    ? { kind: 'intact', bytes: tail.bytes }
    : { kind: 'torn', offset: torn, bytes: tail.bytes };
}

interface Tail {
  readonly bytes: number;
  /** Bytes after the last line feed. */
  readonly restBytes: number;
  readonly stopped: boolean;
}

async function forEachLine(path: string, onLine: (line: Buffer, offset: number) => boolean): Promise<Tail> {
  const handle = await open(path, 'r');
  try {
    let rest: Buffer = Buffer.alloc(0);
    let offset = 0;
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES);
      if (bytesRead === 0) return { bytes: offset + rest.length, restBytes: rest.length, stopped: false };
      const data =
        rest.length === 0
          ? chunk.subarray(0, bytesRead)
          : Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
      let start = 0;
      for (let end = data.indexOf(LINE_FEED); end >= 0; end = data.indexOf(LINE_FEED, start)) {
        if (!onLine(data.subarray(start, end), offset + start))
          return { bytes: offset, restBytes: 0, stopped: true };
        start = end + 1;
      }
      offset += start;
      rest = data.subarray(start);
    }
  } finally {
    await handle.close();
  }
}
