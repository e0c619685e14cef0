import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const SEGMENT = /^log-(\d{16})\.jsonl$/;
const SNAPSHOT = /^snapshot-(\d{16})\.jsonl$/;

export interface DataFile {
  readonly path: string;
  /** Segment: the version before its first record. Snapshot: the version it holds. */
  readonly rv: number;
}

export interface DataFiles {
  /** Oldest first. */
  readonly segments: readonly DataFile[];
  /** Newest first. */
  readonly snapshots: readonly DataFile[];
  /** Snapshots that were being written when the process ended. */
  readonly unfinished: readonly string[];
}

export function segmentPath(directory: string, rv: number): string {
  return join(directory, `log-${String(rv).padStart(16, '0')}.jsonl`);
}

export function snapshotPath(directory: string, rv: number): string {
  return join(directory, `snapshot-${String(rv).padStart(16, '0')}.jsonl`);
}

/** The files in the data directory of one cluster. */
export async function findDataFiles(directory: string): Promise<DataFiles> {
  const names = await readdir(directory);
  const matching = (pattern: RegExp): DataFile[] =>
    names.flatMap((name) => {
      const match = pattern.exec(name);
      return match === null ? [] : [{ path: join(directory, name), rv: Number(match[1]) }];
    });
  return {
    segments: matching(SEGMENT).sort((a, b) => a.rv - b.rv),
    snapshots: matching(SNAPSHOT).sort((a, b) => b.rv - a.rv),
    unfinished: names.filter((name) => name.endsWith('.tmp')).map((name) => join(directory, name)),
  };
}
