import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import pLimit from 'p-limit';
import { findDataFiles, segmentPath, snapshotPath } from './data-files.ts';
import { syncDirectory } from '@berth/runtime/files/atomic-file';
import { durableFile, GroupCommit, type OpenedFile } from './group-commit.ts';
import { removeFiles } from './listed-files.ts';
import type { LogPosition, ObjectFacts } from './log-record.ts';
import { encodePut, encodeRecord, extendDigest, LOG_START } from './log-record.ts';
import { type ListedFile, listedFile, type ListedSegment, type Manifest, writeManifest } from './manifest.ts';
import { type RecoveredState, recoverState } from './recovery.ts';
import { type SnapshotObject, writeSnapshot } from './snapshot-file.ts';

interface LoggedKey {
  readonly storage: string;
  readonly namespace: string;
  readonly name: string;
}

interface WrittenPut {
  readonly timeMs: number;
  readonly json: string;
  readonly facts?: ObjectFacts;
}

/** The identity that the log of a cluster must have, from the register of the data directory. */
export interface LogIdentity {
  readonly log: string;
  /** The log was opened before, so its manifest must exist. */
  readonly known: boolean;
  /** A hub has served from the data directory before. */
  readonly served: boolean;
}

interface AppendLogOptions {
  readonly directory: string;
  /** Default: any log in the directory, or a new one. */
  readonly identity?: Partial<LogIdentity> | undefined;
  readonly onDurable: (rv: number) => void;
  readonly onFatal: (error: unknown) => void;
}

/**
 * The durable history of one cluster's objects: segments with group commit, and snapshots that
 * replace old ones. The manifest names a segment before its first record is written, and stops
 * naming files before they are removed: so after a crash all files that it names exist, and no
 * other file is needed.
 */
export class AppendLog {
  readonly #directory: string;
  readonly #commit: GroupCommit;
  readonly #manifestWrites = pLimit(1);
  #manifest: Manifest;
  #handle: FileHandle;
  #previousSnapshotRv: number;
  #compacting: Promise<void> | undefined;

  private constructor(
    options: AppendLogOptions,
    opened: {
      readonly handle: FileHandle;
      readonly rv: number;
      readonly snapshotRv: number;
      readonly position: LogPosition;
      readonly manifest: Manifest;
    },
  ) {
    this.#directory = options.directory;
    this.#handle = opened.handle;
    this.#manifest = opened.manifest;
    this.#previousSnapshotRv = opened.snapshotRv;
    const { onDurable, onFatal } = options;
    const { rv, position } = opened;
    this.#commit = new GroupCommit({ file: durableFile(opened.handle), rv, position, onDurable, onFatal });
  }

  /**
   * Recovers the state from the directory and continues its log.
   * @throws InputError `hub.data-damaged`
   */
  static async open(options: AppendLogOptions): Promise<{ log: AppendLog; state: RecoveredState }> {
    const { directory, identity } = options;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await removeFiles((await findDataFiles(directory)).unfinished);
    const state = await recoverState(directory, { repair: true, ...identity });
    const { rv, snapshotRv, segments, snapshots } = state;
    const log = state.manifest?.log ?? identity?.log ?? randomUUID();
    let manifest: Manifest = { format: 1, log, segments, snapshots };
    if (state.manifest === undefined) await writeManifest(directory, manifest);
    const last = segments.at(-1);
    if (last !== undefined) {
      const handle = await open(join(directory, last.file), 'a', 0o600);
      return { log: new AppendLog(options, { handle, rv, snapshotRv, position: last, manifest }), state };
    }
    const { handle, segment } = await createSegment(directory, rv);
    manifest = { ...manifest, segments: [segment] };
    await writeManifest(directory, manifest);
    return { log: new AppendLog(options, { handle, rv, snapshotRv, position: segment, manifest }), state };
  }

  get durableRv(): number {
    return this.#commit.durableRv;
  }

  /** Bytes in the current segment. */
  get sizeBytes(): number {
    return this.#commit.position.bytes;
  }

  put(key: LoggedKey, rv: number, written: WrittenPut): void {
    const { storage, namespace, name } = key;
    const { timeMs, json, facts } = written;
    this.#commit.append(rv, encodePut({ type: 'put', rv, timeMs, storage, namespace, name, facts }, json));
  }

  delete(key: LoggedKey, rv: number, timeMs: number): void {
    const { storage, namespace, name } = key;
    this.#commit.append(rv, encodeRecord({ type: 'delete', rv, timeMs, storage, namespace, name }));
  }

  durable(rv: number): Promise<void> {
    return this.#commit.durable(rv);
  }

  /**
   * Starts a new segment, writes a snapshot of `state()` and deletes files that the previous
   * snapshot replaced. The previous snapshot and later segments stay, in case the new one turns out
   * to be unreadable.
   */
  compact(state: () => { rv: number; timeMs: number; objects: readonly SnapshotObject[] }): Promise<void> {
    this.#compacting ??= this.#compactOnce(state).finally(() => {
      this.#compacting = undefined;
    });
    return this.#compacting;
  }

  async #compactOnce(state: Parameters<AppendLog['compact']>[0]): Promise<void> {
    const old = this.#handle;
    await this.#commit.rotate((rv) => this.#nextSegment(rv));
    if (old !== this.#handle) await old.close();
    const captured = state();
    // A snapshot may contain writes that are not on the disk yet; it becomes valid when the log is
    // durable up to its version.
    await this.#commit.durable(captured.rv);
    const snapshot = await this.#snapshotAt(captured);
    const keepFrom = this.#previousSnapshotRv;
    this.#previousSnapshotRv = captured.rv;
    await this.#update((manifest) => {
      const snapshots = manifest.snapshots.filter(({ rv }) => rv >= keepFrom && rv !== captured.rv);
      const segments = manifest.segments.filter((_, index) => {
        const next = manifest.segments[index + 1];
        // A segment can be deleted if the next one starts at or before the version that must stay
        // readable.
        return next === undefined || next.rv > keepFrom;
      });
      return { ...manifest, segments, snapshots: [snapshot, ...snapshots] };
    });
    await this.#removeUnlisted();
  }

  /**
   * An existing snapshot is not written again: a crash in between would leave a file that differs
   * from its manifest entry.
   */
  async #snapshotAt(state: {
    rv: number;
    timeMs: number;
    objects: readonly SnapshotObject[];
  }): Promise<ListedFile> {
    const present = this.#manifest.snapshots.find(({ rv }) => rv === state.rv);
    if (present !== undefined) return present;
    const path = snapshotPath(this.#directory, state.rv);
    return listedFile(path, state.rv, await writeSnapshot(path, { ...state, log: this.#manifest.log }));
  }

  /** The next file to write to; the same one if it is still empty. */
  async #nextSegment(rv: number): Promise<OpenedFile> {
    const { position } = this.#commit;
    const current = this.#manifest.segments.at(-1);
    if (current?.rv === rv) return { file: durableFile(this.#handle), position };
    const { handle, segment } = await createSegment(this.#directory, rv);
    // No record is written to the new segment before the manifest names it.
    await this.#update((manifest) => ({
      ...manifest,
      segments: [...withPosition(manifest.segments, position), segment],
    }));
    this.#handle = handle;
    return { file: durableFile(handle), position: segment };
  }

  /**
   * Records the durable size of the log in the manifest: a later start rejects a log that is
   * shorter.
   */
  async checkpoint(): Promise<void> {
    const known = this.#manifest.segments.at(-1);
    if (known?.bytes === this.#commit.position.bytes) return;
    await this.#update((manifest) => {
      // A running compaction records the end of this segment itself.
      if (this.#compacting !== undefined) return manifest;
      return { ...manifest, segments: withPosition(manifest.segments, this.#commit.position) };
    });
  }

  /** Applies changes of the manifest one by one. A change that cannot be written has no effect. */
  #update(change: (manifest: Manifest) => Manifest): Promise<void> {
    return this.#manifestWrites(async () => {
      const changed = change(this.#manifest);
      await writeManifest(this.#directory, changed);
      this.#manifest = changed;
    });
  }

  async #removeUnlisted(): Promise<void> {
    const { segments, snapshots } = await findDataFiles(this.#directory);
    const listed = new Set([...this.#manifest.segments, ...this.#manifest.snapshots].map(({ file }) => file));
    const paths = [...segments, ...snapshots].map(({ path }) => path);
    await removeFiles(paths.filter((path) => !listed.has(basename(path))));
    await syncDirectory(this.#directory);
  }

  /** Waits until all records are durable; the log must not be used afterwards. */
  async close(lastRv: number): Promise<void> {
    await this.#compacting?.catch(() => undefined);
    await this.#commit.durable(lastRv);
    await this.checkpoint();
    await this.#handle.close();
  }
}

/** The manifest with the durable size of the last segment. */
function withPosition(
  segments: readonly ListedSegment[],
  { bytes, digest }: LogPosition,
): readonly ListedSegment[] {
  return segments.map((segment, index) =>
    index === segments.length - 1 ? { ...segment, bytes, digest } : segment,
  );
}

async function createSegment(
  directory: string,
  rv: number,
): Promise<{ readonly handle: FileHandle; readonly segment: ListedSegment }> {
  const path = segmentPath(directory, rv);
  const id = randomUUID();
  const header = encodeRecord({ type: 'segment', rv, format: 2, id });
  const handle = await open(path, 'w', 0o600);
  await handle.appendFile(header);
  await handle.sync();
  await syncDirectory(directory);
  const position = { bytes: Buffer.byteLength(header), digest: extendDigest(LOG_START.digest, header) };
  return { handle, segment: { ...listedFile(path, rv, position), id } };
}
