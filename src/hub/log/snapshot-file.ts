import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { syncDirectory } from './data-files.ts';
import type { LogRecord, ObjectFacts } from './log-record.ts';
import { encodePut, encodeRecord } from './log-record.ts';
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

/** Writes `objects` as the state at version `rv`: complete or not at all (temporary file, sync, rename, sync). */
export async function writeSnapshot(
  path: string,
  state: { readonly rv: number; readonly timeMs: number; readonly objects: readonly SnapshotObject[] },
): Promise<void> {
  const temporary = `${path}.tmp`;
  const { rv, timeMs, objects } = state;
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.appendFile(encodeRecord({ type: 'snapshot', rv, timeMs, objects: objects.length }));
    for (let start = 0; start < objects.length; start += OBJECTS_PER_WRITE) {
      const lines = objects
        .slice(start, start + OBJECTS_PER_WRITE)
        .map((entry) => encodeEntry(entry, timeMs));
      await file.appendFile(lines.join(''));
      // Requests go first: a snapshot of 100,000 objects must not hold the loop.
      await nextTurn();
    }
    await file.appendFile(encodeRecord({ type: 'end', rv, objects: objects.length }));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncDirectory(dirname(path));
}

function encodeEntry(entry: SnapshotObject, timeMs: number): string {
  const { storage, namespace, name, rv, facts } = entry;
  return encodePut({ type: 'put', rv, timeMs, storage, namespace, name, facts }, entry.json());
}

export type SnapshotContent =
  | {
      readonly kind: 'complete';
      readonly rv: number;
      readonly puts: readonly Extract<LogRecord, { type: 'put' }>[];
    }
  | { readonly kind: 'broken'; readonly problem: string };

/** Reads a snapshot whole; a snapshot with anything wrong in it is `broken`, never a shorter list. */
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
  return { kind: 'complete', rv: header.rv, puts };
}
