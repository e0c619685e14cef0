import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { syncDirectory } from '@berth/runtime/files/atomic-file';
import type { LogPosition, LogRecord, ObjectFacts } from './log-record.ts';
import { encodePut, encodeRecord, extendDigest, LOG_START } from './log-record.ts';
import { readRecords } from './read-records.ts';

/** One object of a snapshot; `json` is its exact JSON. */
export interface SnapshotObject {
  readonly storage: string;
  readonly namespace: string;
  readonly name: string;
  readonly rv: number;
  readonly facts?: ObjectFacts | undefined;
  json(): string;
}

const OBJECTS_PER_WRITE = 200;

/** The state at version `rv` of the log with this identity. */
export interface SnapshotState {
  readonly rv: number;
  readonly timeMs: number;
  readonly log: string;
  readonly objects: readonly SnapshotObject[];
}

/**
 * Writes `objects` as the state at version `rv`, atomically (temporary file, sync, rename, sync).
 * @returns its size and digest, for the manifest
 */
export async function writeSnapshot(path: string, state: SnapshotState): Promise<LogPosition> {
  const temporary = `${path}.tmp`;
  const { rv, timeMs, log, objects } = state;
  const file = await open(temporary, 'w', 0o600);
  let { bytes, digest } = LOG_START;
  const append = async (lines: readonly string[]): Promise<void> => {
    const text = lines.join('');
    digest = lines.reduce(extendDigest, digest);
    bytes += Buffer.byteLength(text);
    await file.appendFile(text);
  };
  try {
    await append([encodeRecord({ type: 'snapshot', rv, timeMs, objects: objects.length, log })]);
    for (let start = 0; start < objects.length; start += OBJECTS_PER_WRITE) {
      const part = objects.slice(start, start + OBJECTS_PER_WRITE);
      await append(part.map((entry) => encodeEntry(entry, timeMs)));
      // Yields to requests: a snapshot of 100,000 objects must not block the event loop.
      await nextTurn();
    }
    await append([encodeRecord({ type: 'end', rv, objects: objects.length })]);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncDirectory(dirname(path));
  return { bytes, digest };
}

function encodeEntry(entry: SnapshotObject, timeMs: number): string {
  const { storage, namespace, name, rv, facts } = entry;
  return encodePut({ type: 'put', rv, timeMs, storage, namespace, name, facts }, entry.json());
}

export type SnapshotContent =
  | {
      readonly kind: 'complete';
      readonly rv: number;
      /** Identity of the log; undefined in snapshots of earlier versions. */
      readonly log: string | undefined;
      readonly position: LogPosition;
      readonly puts: readonly Extract<LogRecord, { type: 'put' }>[];
    }
  | { readonly kind: 'broken'; readonly problem: string };

/** Reads a complete snapshot; a damaged one is `broken`, never a shorter list. */
export async function readSnapshot(path: string): Promise<SnapshotContent> {
  const puts: Extract<LogRecord, { type: 'put' }>[] = [];
  let header: Extract<LogRecord, { type: 'snapshot' }> | undefined;
  let ended = false;
  const end = await readRecords(path, (record) => {
    if (record.type === 'put') puts.push(record);
    else if (record.type === 'snapshot') header = record;
    else if (record.type === 'end') ended = record.rv === header?.rv && record.objects === puts.length;
  });
  if (end.kind !== 'intact') return { kind: 'broken', problem: `broken at byte ${String(end.offset)}` };
  if (header === undefined || !ended)
    return { kind: 'broken', problem: 'its first or last record is missing' };
  const { rv, log } = header;
  return { kind: 'complete', rv, log, position: { bytes: end.bytes, digest: end.digest }, puts };
}
