import { truncate } from 'node:fs/promises';
import { InputError } from '../../core/errors.ts';
import type { DataFile } from './data-files.ts';
import { findDataFiles } from './data-files.ts';
import type { LogRecord, ObjectFacts } from './log-record.ts';
import type { RecordsEnd } from './read-records.ts';
import { readRecords } from './read-records.ts';
import { readSnapshot } from './snapshot-file.ts';

export interface RecoveredObject {
  readonly storage: string;
  readonly namespace: string;
  readonly name: string;
  readonly rv: number;
  readonly facts?: ObjectFacts | undefined;
  /** Parsed anew whenever it is asked for. */
  readonly object: unknown;
  /** The exact text of the object. */
  readonly json?: string | undefined;
}

export interface RecoveredState {
  /** The newest version that was ever durable here. */
  readonly rv: number;
  /** Version of the snapshot that the recovery began with; 0 without one. */
  readonly snapshotRv: number;
  readonly objects: Iterable<RecoveredObject>;
  readonly objectCount: number;
  readonly lastSegment: DataFile | undefined;
  readonly segmentBytes: number;
  /** What had to be repaired or skipped, for the log and for `berth hub check`. */
  readonly warnings: readonly string[];
}

/**
 * Rebuilds the state from the newest intact snapshot and the segments after it. A torn tail of the last segment was
 * never acknowledged and is cut off (`repair`) or reported. Anything else that is broken or missing refuses to start:
 * guessing would lose acknowledged writes silently.
 * @throws InputError `hub.data-damaged`
 */
export async function recoverState(
  directory: string,
  options: { readonly repair: boolean },
): Promise<RecoveredState> {
  const files = await findDataFiles(directory);
  const warnings: string[] = [];
  const state = new Map<string, RecoveredObject>();
  const start = await loadNewestSnapshot(files.snapshots, state, warnings);
  const progress = { rv: start.rv };
  let segmentBytes = 0;
  const segments = files.segments.filter((_, index) => {
    const next = files.segments[index + 1];
    return next === undefined || next.rv >= start.rv;
  });
  for (const [index, segment] of segments.entries()) {
    const end = await readRecords(segment.path, (record) =>
      replay(record, segment.path, { progress, state }),
    );
    const last = index === segments.length - 1;
    segmentBytes = await settleEnd(segment, end, { last, repair: options.repair, warnings });
  }
  return {
    rv: progress.rv,
    snapshotRv: start.rv,
    objects: state.values(),
    objectCount: state.size,
    lastSegment: segments.at(-1),
    segmentBytes,
    warnings,
  };
}

async function loadNewestSnapshot(
  snapshots: readonly DataFile[],
  state: Map<string, RecoveredObject>,
  warnings: string[],
): Promise<{ rv: number }> {
  for (const file of snapshots) {
    const content = await readSnapshot(file.path);
    if (content.kind === 'broken') {
      warnings.push(`${file.path}: ${content.problem}; using an older snapshot and the log after it`);
      continue;
    }
    for (const put of content.puts) state.set(keyOf(put), put);
    return { rv: content.rv };
  }
  return { rv: 0 };
}

function replay(
  record: LogRecord,
  path: string,
  into: { readonly progress: { rv: number }; readonly state: Map<string, RecoveredObject> },
): void {
  const { progress, state } = into;
  if (record.type === 'segment') {
    if (record.rv > progress.rv) throw missingRecords(path, progress.rv + 1, record.rv);
    return;
  }
  if (record.type !== 'put' && record.type !== 'delete') return;
  if (record.rv <= progress.rv) return;
  if (record.rv !== progress.rv + 1) throw missingRecords(path, progress.rv + 1, record.rv - 1);
  progress.rv = record.rv;
  if (record.type === 'put') state.set(keyOf(record), record);
  else state.delete(keyOf(record));
}

async function settleEnd(
  segment: DataFile,
  end: RecordsEnd,
  how: { readonly last: boolean; readonly repair: boolean; readonly warnings: string[] },
): Promise<number> {
  if (end.kind === 'intact') return end.bytes;
  if (end.kind === 'torn' && how.last) {
    const lost = end.bytes - end.offset;
    how.warnings.push(
      `${segment.path}: the last write was cut short (never acknowledged); ${String(lost)} bytes at ${String(end.offset)} dropped`,
    );
    if (how.repair) await truncate(segment.path, end.offset);
    return end.offset;
  }
  throw new InputError(
    `is damaged at byte ${String(end.offset)}, and intact records follow: acknowledged writes would be lost`,
    {
      code: 'hub.data-damaged',
      subject: segment.path,
      hint: 'Restore the data directory from a backup (berth hub restore), or repair the disk and copy the file back.',
    },
  );
}

function missingRecords(path: string, from: number, to: number): InputError {
  return new InputError(
    `begins too late: the records of versions ${String(from)} to ${String(to)} are missing`,
    {
      code: 'hub.data-damaged',
      subject: path,
      hint: 'A log file was removed or replaced. Restore the data directory from a backup (berth hub restore).',
    },
  );
}

function keyOf(ref: { readonly storage: string; readonly namespace: string; readonly name: string }): string {
  return `${ref.storage}/${ref.namespace}/${ref.name}`;
}
