import { truncate } from 'node:fs/promises';
import type { LogFile, LogFiles, LogSegment } from './listed-files.ts';
import { filesOfManifest, filesWithoutManifest, removeFiles, requireDigest } from './listed-files.ts';
import { LOG_START, type LogPosition, type LogRecord, type ObjectFacts } from './log-record.ts';
import type { ListedFile, ListedSegment, Manifest } from './manifest.ts';
import { dataDamaged, listedFile, manifestPath, readManifest } from './manifest.ts';
import { readRecords, type RecordsEnd } from './read-records.ts';
import { readSnapshot } from './snapshot-file.ts';

export interface RecoveredObject {
  readonly storage: string;
  readonly namespace: string;
  readonly name: string;
  readonly rv: number;
  readonly facts?: ObjectFacts | undefined;
  /** Each access parses it again. */
  readonly object: unknown;
  /** The exact text of the object. */
  readonly json?: string | undefined;
}

export interface RecoveredState {
  /** The newest durable version. */
  readonly rv: number;
  /** Version of the snapshot that recovery started from; 0 without one. */
  readonly snapshotRv: number;
  readonly objects: Iterable<RecoveredObject>;
  readonly objectCount: number;
  /** The manifest after recovery; undefined for a log without one. */
  readonly manifest: Manifest | undefined;
  /** The segments of the log with their sizes. */
  readonly segments: readonly ListedSegment[];
  readonly snapshots: readonly ListedFile[];
  /** Repaired or skipped parts, for the log output and for `berth hub check`. */
  readonly warnings: readonly string[];
}

export interface RecoveryOptions {
  /**
   * true: truncates a torn tail and removes leftover files. false: the directory may be in use by a
   * running hub.
   */
  readonly repair: boolean;
  /** The log existed before, so a missing manifest is damage. */
  readonly known?: boolean;
  /** A hub of a version without manifests served it, so records must exist. */
  readonly served?: boolean;
  /** The identity that the log must have. */
  readonly log?: string;
  /** Reads all files, not only those that the state is built from. */
  readonly thorough?: boolean;
}

const READS_OF_A_BUSY_DIRECTORY = 5;

/**
 * Rebuilds the state from the newest intact snapshot and the segments after it, and compares every
 * file with the manifest. A torn tail of the last segment was never acknowledged and is cut off
 * (`repair`) or reported. Any other damage is an error: guessing could lose acknowledged writes
 * silently.
 * @throws InputError `hub.data-damaged`
 */
export async function recoverState(directory: string, options: RecoveryOptions): Promise<RecoveredState> {
  for (let attempt = 1; ; attempt += 1) {
    const manifest = await readManifest(directory);
    try {
      return await new Recovery(directory, manifest, options).run();
    } catch (error) {
      // A running hub may have compacted its log in between.
      const busy =
        !options.repair && JSON.stringify(await readManifest(directory)) !== JSON.stringify(manifest);
      if (!busy || attempt === READS_OF_A_BUSY_DIRECTORY) throw error;
    }
  }
}

class Recovery {
  readonly #directory: string;
  readonly #manifest: Manifest | undefined;
  readonly #options: RecoveryOptions;
  readonly #warnings: string[] = [];
  readonly #state = new Map<string, RecoveredObject>();
  readonly #positions = new Map<string, LogPosition>();
  #rv = 0;

  constructor(directory: string, manifest: Manifest | undefined, options: RecoveryOptions) {
    this.#directory = directory;
    this.#manifest = manifest;
    this.#options = options;
  }

  async run(): Promise<RecoveredState> {
    const files = await this.#files();
    const snapshotRv = await this.#loadSnapshot(files.snapshots);
    this.#rv = snapshotRv;
    for (const [index, segment] of files.segments.entries()) {
      const next = files.segments[index + 1];
      const superfluous = next !== undefined && next.rv < snapshotRv;
      if (superfluous && this.#options.thorough !== true) continue;
      await this.#readSegment(segment, { last: next === undefined, replayed: !superfluous });
    }
    this.#requireRecords();
    if (this.#options.repair) await removeFiles(files.leftover);
    return {
      rv: this.#rv,
      snapshotRv,
      objects: this.#state.values(),
      objectCount: this.#state.size,
      manifest: this.#manifest,
      segments: files.segments
        .filter((file) => this.#belongs(file))
        .map((file) => ({ ...this.#entry(file), id: file.listed?.id ?? '' })),
      snapshots: files.snapshots.filter((file) => this.#belongs(file)).map((file) => this.#entry(file)),
      warnings: this.#warnings,
    };
  }

  async #files(): Promise<LogFiles> {
    const manifest = this.#manifest;
    const path = manifestPath(this.#directory);
    if (manifest === undefined) {
      if (this.#options.known === true) throw dataDamaged(path, 'is missing: it names the files of the log');
      return filesWithoutManifest(this.#directory);
    }
    if (this.#options.log !== undefined && this.#options.log !== manifest.log)
      throw dataDamaged(path, 'belongs to the log of another cluster');
    return filesOfManifest(this.#directory, manifest);
  }

  /** @returns the version of the loaded snapshot, 0 without one */
  async #loadSnapshot(snapshots: readonly LogFile[]): Promise<number> {
    let loaded: number | undefined;
    for (const { path, listed } of snapshots) {
      if (loaded !== undefined && this.#options.thorough !== true) break;
      const content = await readSnapshot(path);
      if (content.kind === 'broken') {
        this.#warnings.push(`${path}: ${content.problem}; using an older snapshot and the log after it`);
        continue;
      }
      if (listed !== undefined) requireDigest(path, listed, content.position);
      else this.#requireEarlierRelease(path, content.log);
      this.#positions.set(path, content.position);
      if (loaded !== undefined) continue;
      for (const put of content.puts) this.#state.set(keyOf(put), put);
      loaded = content.rv;
    }
    return loaded ?? 0;
  }

  async #readSegment(
    segment: LogSegment,
    how: { readonly last: boolean; readonly replayed: boolean },
  ): Promise<void> {
    const { path, listed } = segment;
    let id: string | undefined;
    let known: LogPosition | undefined;
    const end = await readRecords(path, (record, after) => {
      if (record.type === 'segment') id = record.format === 2 ? record.id : '';
      if (after.bytes === listed?.bytes) known = after;
      if (how.replayed) this.#replay(record, path);
    });
    if (listed === undefined) this.#requireEarlierRelease(path, id === '' ? undefined : id);
    else this.#checkSegment(segment, end, { id, known });
    this.#positions.set(path, await this.#settleEnd(path, end, how.last && !segment.finished));
  }

  #checkSegment(
    { path, listed }: LogSegment,
    end: RecordsEnd,
    found: { readonly id: string | undefined; readonly known: LogPosition | undefined },
  ): void {
    if (listed === undefined) return;
    // Damage before the recorded size is reported with its own offset.
    if (end.kind !== 'intact' && end.offset < listed.bytes) throw brokenAt(path, end.offset);
    if (found.id !== listed.id)
      throw dataDamaged(path, 'is not the file that the manifest names: it is another segment');
    requireDigest(path, listed, found.known);
  }

  /**
   * Without a manifest only files of earlier versions are valid, because this version always writes
   * one.
   */
  #requireEarlierRelease(path: string, identity: string | undefined): void {
    if (identity === undefined) return;
    throw dataDamaged(manifestPath(this.#directory), `is missing: ${path} was written with it`);
  }

  #replay(record: LogRecord, path: string): void {
    if (record.type === 'segment') {
      if (record.rv > this.#rv) throw missingRecords(path, this.#rv + 1, record.rv);
      return;
    }
    if (record.type !== 'put' && record.type !== 'delete') return;
    if (record.rv <= this.#rv) return;
    if (record.rv !== this.#rv + 1) throw missingRecords(path, this.#rv + 1, record.rv - 1);
    this.#rv = record.rv;
    if (record.type === 'put') this.#state.set(keyOf(record), record);
    else this.#state.delete(keyOf(record));
  }

  /** @returns the size and digest of the segment */
  async #settleEnd(path: string, end: RecordsEnd, mayBeTorn: boolean): Promise<LogPosition> {
    if (end.kind === 'intact') return { bytes: end.bytes, digest: end.digest };
    if (end.kind === 'damaged' || !mayBeTorn) throw brokenAt(path, end.offset);
    const lost = end.bytes - end.offset;
    this.#warnings.push(
      `${path}: the last write was cut short (never acknowledged); ${String(lost)} bytes at ${String(end.offset)} dropped`,
    );
    if (this.#options.repair) await truncate(path, end.offset);
    return { bytes: end.offset, digest: end.digest };
  }

  /**
   * A directory of an earlier version has no manifest; if its hub has served, records must exist.
   */
  #requireRecords(): void {
    if (this.#manifest !== undefined || this.#options.served !== true || this.#rv > 0) return;
    throw dataDamaged(this.#directory, 'contains no records, although the hub has served from it');
  }

  /** Only the needed files of an earlier version are added to the manifest. */
  #belongs({ path, listed }: LogFile): boolean {
    return listed !== undefined || (this.#positions.get(path)?.bytes ?? 0) > 0;
  }

  /** The manifest entry of a file; a file that was not read keeps its entry. */
  #entry({ path, rv, listed }: LogFile): ListedFile {
    return listedFile(path, rv, this.#positions.get(path) ?? listed ?? LOG_START);
  }
}

function brokenAt(path: string, offset: number): Error {
  return dataDamaged(
    path,
    `is damaged at byte ${String(offset)}, and it was whole before: acknowledged writes would be lost`,
  );
}

function missingRecords(path: string, from: number, to: number): Error {
  return dataDamaged(
    path,
    `begins too late: the records of versions ${String(from)} to ${String(to)} are missing`,
  );
}

function keyOf(ref: { readonly storage: string; readonly namespace: string; readonly name: string }): string {
  return `${ref.storage}/${ref.namespace}/${ref.name}`;
}
