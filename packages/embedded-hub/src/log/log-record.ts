import { crc32 } from 'node:zlib';

/**
 * Properties of an object that the hub needs at its start, so that it need not parse all objects.
 */
export interface ObjectFacts {
  readonly uid: string;
  /** Uids of the owners. */
  readonly owners: readonly string[];
  /** Marked for deletion. */
  readonly deleting: boolean;
}

/**
 * One write, as it is in the log and in snapshots: a line `CRC LENGTH JSON\n`, CRC-32 in eight
 * hexadecimal digits and LENGTH in bytes, both of the JSON. The JSON contains no raw line feed, so
 * each line is one record. A damaged line with intact lines after it is not a torn tail.
 */
export type LogRecord =
  | {
      readonly type: 'put';
      readonly rv: number;
      /** Milliseconds since the epoch, for people who read the log; recovery does not use it. */
      readonly timeMs: number;
      readonly storage: string;
      readonly namespace: string;
      readonly name: string;
      /** Absent in logs of earlier versions. */
      readonly facts?: ObjectFacts | undefined;
      /** In a record that was read, each access parses it again. */
      readonly object: unknown;
      /** In a record that was read: the exact text of the object. */
      readonly json?: string | undefined;
    }
  | {
      readonly type: 'delete';
      readonly rv: number;
      readonly timeMs: number;
      readonly storage: string;
      readonly namespace: string;
      readonly name: string;
    }
  /** First line of a snapshot. `log`: of which log; absent in snapshots of earlier versions. */
  | {
      readonly type: 'snapshot';
      readonly rv: number;
      readonly timeMs: number;
      readonly objects: number;
      readonly log?: string | undefined;
    }
  /** Last line of a snapshot; a snapshot without it is incomplete. */
  | { readonly type: 'end'; readonly rv: number; readonly objects: number }
  /**
   * First line of a segment: the last version before it. Format 2 has an `id` of its own, which the
   * manifest names; format 1, of earlier versions, has none.
   */
  | { readonly type: 'segment'; readonly rv: number; readonly format: 1 }
  | { readonly type: 'segment'; readonly rv: number; readonly format: 2; readonly id: string };

/** Size of a sequence of records, and a digest of their checksums in order. */
export interface LogPosition {
  readonly bytes: number;
  readonly digest: number;
}

const CHECKSUM_DIGITS = 8;
const CODE_OF_ZERO = 0x30;
const CODE_OF_A = 0x61;

export const LOG_START: LogPosition = { bytes: 0, digest: 0 };

/** The digest after one more record; cheap, because each record starts with its checksum. */
export function extendDigest(digest: number, record: string): number {
  let checksum = 0;
  for (let at = 0; at < CHECKSUM_DIGITS; at += 1) checksum = checksum * 16 + hexDigit(record.charCodeAt(at));
  return (Math.imul(digest, 31) + checksum) >>> 0;
}

/** @param code of a character in `0-9a-f` */
function hexDigit(code: number): number {
  return code < CODE_OF_A ? code - CODE_OF_ZERO : code - CODE_OF_A + 10;
}

export type PutRecord = Extract<LogRecord, { type: 'put' }>;

/** The record of a put from the JSON of its object, which avoids a second stringify. */
export function encodePut(record: Omit<PutRecord, 'object' | 'json'>, json: string): string {
  const head = JSON.stringify(record);
  return encodeLine(`${head.slice(0, -1)},"object":${json}}`);
}

export function encodeRecord(record: LogRecord): string {
  return encodeLine(JSON.stringify(record));
}

/** A line of the form `CRC LENGTH JSON`. */
export function encodeLine(json: string): string {
  const bytes = Buffer.byteLength(json);
  return `${crc32(json).toString(16).padStart(CHECKSUM_DIGITS, '0')} ${String(bytes)} ${json}\n`;
}

const HEADER = /^([0-9a-f]{8}) ([0-9]{1,10}) $/;

/** Undefined when the line (without its line feed) is not an intact record. */
export function decodeRecord(line: Buffer): LogRecord | undefined {
  const json = checkedJson(line);
  if (json === undefined) return undefined;
  try {
    return readPut(json) ?? (JSON.parse(json.toString('utf8')) as LogRecord);
  } catch {
    return undefined;
  }
}

/** The JSON of a line; undefined if its length or checksum is wrong. */
export function checkedJson(line: Buffer): Buffer | undefined {
  const secondSpace = line.indexOf(0x20, 9);
  if (secondSpace < 0 || secondSpace > 20) return undefined;
  const header = HEADER.exec(line.toString('latin1', 0, secondSpace + 1));
  if (header === null) return undefined;
  const json = line.subarray(secondSpace + 1);
  if (json.length !== Number(header[2]) || crc32(json) !== Number.parseInt(header[1] ?? '', 16))
    return undefined;
  return json;
}

const OBJECT_MARK = Buffer.from(',"object":');
const CLOSING_BRACE = 0x7d;

/**
 * Parses a put without its object: most of a log is objects, and most of these are never read
 * before they change. `encodePut` writes the object last; the marker contains a quote, so it cannot
 * occur inside a string.
 */
function readPut(json: Buffer): PutRecord | undefined {
  const mark = json.indexOf(OBJECT_MARK);
  if (mark < 0 || json[json.length - 1] !== CLOSING_BRACE) return undefined;
  const head = JSON.parse(`${json.toString('utf8', 0, mark)}}`) as Omit<PutRecord, 'object'>;
  if (head.type !== 'put') return undefined;
  return new TextPut(head, json.toString('utf8', mark + OBJECT_MARK.length, json.length - 1));
}

class TextPut implements PutRecord {
  readonly type = 'put';
  readonly rv: number;
  readonly timeMs: number;
  readonly storage: string;
  readonly namespace: string;
  readonly name: string;
  readonly facts: ObjectFacts | undefined;
  readonly json: string;

  constructor(head: Omit<PutRecord, 'object'>, json: string) {
    this.rv = head.rv;
    this.timeMs = head.timeMs;
    this.storage = head.storage;
    this.namespace = head.namespace;
    this.name = head.name;
    this.facts = head.facts;
    this.json = json;
  }

  get object(): unknown {
    return JSON.parse(this.json) as unknown;
  }
}
