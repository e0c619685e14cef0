import { compareText } from '@berth/runtime/text/compare-text';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { errorText, InputError } from '@berth/runtime/errors';
import type { DecisionRecord } from '../../core/publish/record/decision-record.ts';
import { movePlacementsFirst } from '@berth/placement/snapshot/move-placements-first';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { SNAPSHOT_LISTS, snapshotObjectKey, type SnapshotList } from './snapshot-digest.ts';

/** The pieces of a snapshot. */
export interface SnapshotManifest {
  readonly now: string;
  readonly pieces: Readonly<Record<SnapshotList, readonly string[]>>;
  /** Placements (`namespace/name`) that were scheduled before the others. Absent: none. */
  readonly first?: readonly string[];
  /** See `Snapshot.held`. Absent: none. */
  readonly held?: Snapshot['held'];
}

/** Paths in a history directory. The manifests of snapshots are in the folder `worlds`. */
export const historyFiles = {
  records: (dir: string): string => join(dir, 'records.jsonl'),
  snapshot: (dir: string, hash: string): string => join(dir, 'worlds', `${hash}.json`),
  piece: (dir: string, hash: string): string => join(dir, 'pieces', `${hash}.json.gz`),
};

/** Reads a history, even while a controller writes it. */
export class HistoryReader {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /**
   * The records, oldest first; none if nothing was recorded. Lines that a crash truncated are left out.
   * @throws InputError when the records exist and cannot be read
   */
  async list(): Promise<readonly DecisionRecord[]> {
    const file = historyFiles.records(this.#dir);
    const text = await readFile(file, 'utf8').catch((cause: unknown) => {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return '';
      throw new InputError(`cannot be read: ${errorText(cause)}`, {
        code: 'history.records',
        subject: file,
        cause,
      });
    });
    return text.split('\n').flatMap((line) => {
      try {
        return line === '' ? [] : [JSON.parse(line) as DecisionRecord];
      } catch {
        return [];
      }
    });
  }

  async readManifest(hash: string): Promise<SnapshotManifest> {
    return JSON.parse(await readFile(historyFiles.snapshot(this.#dir, hash), 'utf8')) as SnapshotManifest;
  }

  /** @throws InputError when the inputs were dropped, or are damaged */
  async readSnapshot(hash: string): Promise<Snapshot> {
    try {
      const { now, pieces, first = [], held } = await this.readManifest(hash);
      const lists = await Promise.all(
        SNAPSHOT_LISTS.map(async (list) => [list, await this.#readList(pieces[list])]),
      );
      const snapshot = { now, ...Object.fromEntries(lists), ...(held && { held }) } as Snapshot;
      return { ...snapshot, placements: movePlacementsFirst(snapshot.placements, new Set(first)) };
    } catch (cause) {
      throw new InputError('the inputs of this decision are no longer stored, or are damaged', {
        code: 'history.inputs',
        subject: hash,
        cause,
      });
    }
  }

  async #readList(hashes: readonly string[]): Promise<readonly unknown[]> {
    const pieces = await Promise.all(hashes.map((hash) => this.#readPiece(hash)));
    return pieces.flat().sort(byKey);
  }

  async #readPiece(hash: string): Promise<readonly SnapshotEntry[]> {
    const bytes = await decompress(await readFile(historyFiles.piece(this.#dir, hash)));
    return JSON.parse(bytes.toString('utf8')) as SnapshotEntry[];
  }
}

type SnapshotEntry = Parameters<typeof snapshotObjectKey>[0];

/** The order of objects in the snapshots of the inventory. */
function byKey(a: SnapshotEntry, b: SnapshotEntry): number {
  return compareText(snapshotObjectKey(a), snapshotObjectKey(b));
}

const decompress = promisify(gunzip);
