import { mkdirSync } from 'node:fs';
import { access, readdir, rm, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip, gunzip } from 'node:zlib';
import { movePlacementsFirst } from '@berth/placement/snapshot/move-placements-first';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { InputError } from '@berth/runtime/errors';
import { removeTemporaryFiles, writeFileAtomic } from '@berth/runtime/files/atomic-file';
import { PRIVATE_DIRECTORY_MODE } from '@berth/runtime/files/private-mode';
import type { Logger } from '@berth/runtime/logger';
import { compareText } from '@berth/runtime/text/compare-text';
import type { DecisionRecord } from '../../core/publish/record/decision-record.ts';
import { LineFile } from './line-file.ts';
import { readRecordLog, recordFile } from './record-log.ts';
import {
  SNAPSHOT_LISTS,
  type SnapshotDigest,
  snapshotObjectKey,
  type SnapshotList,
} from './snapshot-digest.ts';

/** How long a write waits for further records. */
const GATHER_MS = 50;

/** Paths in a history directory. The manifests of snapshots are in the folder `worlds`. */
const historyFiles = {
  records: (dir: string): string => recordFile({ dir, name: 'records' }),
  snapshot: (dir: string, hash: string): string => join(dir, 'worlds', `${hash}.json`),
  piece: (dir: string, hash: string): string => join(dir, 'pieces', `${hash}.json.gz`),
};

interface Entry {
  readonly hash: string;
  readonly line: string;
  readonly snapshot: SnapshotDigest;
}

export interface HistoryOptions {
  readonly dir: string;
  /** Maximum number of records; older ones, and pieces that only they use, are dropped. */
  readonly maxRecords: number;
  readonly log: Logger;
}

/**
 * Records of publications, with the inputs to compute each again. Inputs are split into pieces that
 * records share. Writes are asynchronous, so that a full disk costs history, but never a decision.
 */
export class HistoryStore {
  readonly #options: HistoryOptions;
  readonly #reader: HistoryReader;
  readonly #lines: LineFile;
  readonly #writtenFiles = new Set<string>();
  readonly #waiting: Entry[] = [];
  #writing: Promise<void> | undefined;
  /** A caller waits for the write, so it must not be delayed to collect more records. */
  #isFlushing = false;
  #endGathering: () => void = () => undefined;
  #records: number | undefined;

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#reader = new HistoryReader(options.dir);
    this.#lines = new LineFile(historyFiles.records(options.dir));
    for (const folder of ['pieces', 'worlds'])
      mkdirSync(join(options.dir, folder), { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
    removeTemporaryFiles(historyFiles.records(options.dir));
  }

  /** @param line the record's JSON, if rendered already */
  append(record: DecisionRecord, snapshot: SnapshotDigest, line = JSON.stringify(record)): void {
    this.#waiting.push({ hash: record.hash, line, snapshot });
    this.#writing ??= this.#drain();
  }

  /**
   * Resolves when everything appended so far is written to its files (though not safe from a power failure), or was
   * reported as lost.
   */
  async flush(): Promise<void> {
    this.#isFlushing = true;
    this.#endGathering();
    while (this.#writing !== undefined) await this.#writing;
    this.#isFlushing = false;
  }

  /**
   * Records that arrive within a short time, or during a write, are written together, because a
   * file operation costs more than a record.
   */
  async #drain(): Promise<void> {
    let batch: readonly Entry[];
    do {
      await this.#waitForMore();
      batch = this.#waiting.splice(0);
      try {
        // The file stays open until no record arrives for a moment.
        await (batch.length > 0 ? this.#write(batch) : this.#lines.close());
      } catch (error) {
        const records = batch.map(({ hash }) => hash);
        this.#options.log.error('history was not written', { records, error });
      }
    } while (batch.length > 0 || this.#waiting.length > 0);
    this.#writing = undefined;
  }

  #waitForMore(): Promise<void> {
    if (this.#isFlushing) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS);
      this.#endGathering = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #write(batch: readonly Entry[]): Promise<void> {
    const { maxRecords } = this.#options;
    if (this.#writtenFiles.size > 0 && !(await this.#lines.exists())) this.#forgetWritten();
    this.#records ??= (await this.#reader.list()).length;
    for (const { snapshot } of batch)
      if (!this.#writtenFiles.has(historyFiles.snapshot(this.#options.dir, snapshot.hash)))
        await this.#writeSnapshot(snapshot);
    // Records are written last, so that their pieces exist.
    await this.#lines.append(batch.map(({ line }) => line));
    this.#records += batch.length;
    if (this.#records > maxRecords * 1.25) await this.#compact();
  }

  /** The folder was removed, so pieces must be written again when needed. */
  #forgetWritten(): void {
    const { dir, log } = this.#options;
    log.warn('the history was removed; a new one is started', { folder: dir });
    this.#writtenFiles.clear();
    this.#records = 0;
  }

  async #writeSnapshot(snapshot: SnapshotDigest): Promise<void> {
    const { dir } = this.#options;
    for (const list of SNAPSHOT_LISTS)
      for (const piece of snapshot.pieces[list])
        await this.#writeOnce(historyFiles.piece(dir, piece.hash), () =>
          compress(JSON.stringify(piece.objects)),
        );
    const pieces = Object.fromEntries(
      SNAPSHOT_LISTS.map((list) => [list, snapshot.pieces[list].map((piece) => piece.hash)]),
    ) as unknown as SnapshotManifest['pieces'];
    const { now, first, held } = snapshot;
    const manifest: SnapshotManifest = {
      now,
      pieces,
      ...(first.length > 0 && { first }),
      ...(held && { held }),
    };
    await this.#writeOnce(historyFiles.snapshot(dir, snapshot.hash), () => JSON.stringify(manifest));
  }

  async #writeOnce(file: string, content: () => string | Promise<Uint8Array>): Promise<void> {
    if (this.#writtenFiles.has(file)) return;
    const exists = await access(file).then(
      () => true,
      () => false,
    );
    if (!exists) await writeFileAtomic(file, await content());
    this.#writtenFiles.add(file);
  }

  async #compact(): Promise<void> {
    const { dir, maxRecords } = this.#options;
    const records = (await this.#reader.list()).slice(-maxRecords);
    await this.#lines.replace(records.map((record) => JSON.stringify(record)));
    this.#records = records.length;
    const snapshots = new Set(records.map((record) => record.inputs));
    const pieces = new Set<string>();
    for (const hash of snapshots) {
      // A missing snapshot must not stop the clean-up.
      const manifest = await this.#reader.readManifest(hash).catch(() => undefined);
      for (const list of SNAPSHOT_LISTS) for (const piece of manifest?.pieces[list] ?? []) pieces.add(piece);
    }
    await removeOthers(join(dir, 'worlds'), '.json', snapshots);
    await removeOthers(join(dir, 'pieces'), '.json.gz', pieces);
    this.#writtenFiles.clear();
  }
}

async function removeOthers(dir: string, suffix: string, keep: ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(dir))
    if (!keep.has(name.slice(0, -suffix.length))) await rm(join(dir, name), { force: true });
}

const compress = promisify(gzip);

/** The pieces of a snapshot. */
interface SnapshotManifest {
  readonly now: string;
  readonly pieces: Readonly<Record<SnapshotList, readonly string[]>>;
  /** Placements (`namespace/name`) that were scheduled before the others. Absent: none. */
  readonly first?: readonly string[];
  /** See `Snapshot.held`. Absent: none. */
  readonly held?: Snapshot['held'];
}

const decompress = promisify(gunzip);

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
  list(): Promise<readonly DecisionRecord[]> {
    return readRecordLog({ dir: this.#dir, name: 'records' });
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
