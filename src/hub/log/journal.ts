import { mkdir, open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { findDataFiles, segmentPath, snapshotPath, syncDirectory } from './data-files.ts';
import type { CommitFile } from './group-commit.ts';
import { durableFile, GroupCommit } from './group-commit.ts';
import type { ObjectFacts } from './log-record.ts';
import { encodePut, encodeRecord } from './log-record.ts';
import type { RecoveredState } from './recovery.ts';
import { recoverState } from './recovery.ts';
import type { SnapshotObject } from './snapshot-file.ts';
import { writeSnapshot } from './snapshot-file.ts';

interface JournalKey {
  readonly storage: string;
  readonly namespace: string;
  readonly name: string;
}

interface WrittenPut {
  readonly timeMs: number;
  readonly json: string;
  readonly facts?: ObjectFacts;
}

interface JournalOptions {
  readonly directory: string;
  readonly onDurable: (rv: number) => void;
  readonly onFatal: (error: unknown) => void;
}

/** The durable history of one cluster's objects: segments with group commit, and snapshots that replace old ones. */
export class Journal {
  readonly #directory: string;
  readonly #commit: GroupCommit;
  #handle: FileHandle;
  #previousSnapshotRv: number;
  #compacting: Promise<void> | undefined;

  private constructor(
    options: JournalOptions,
    opened: {
      readonly handle: FileHandle;
      readonly rv: number;
      readonly snapshotRv: number;
      readonly sizeBytes: number;
    },
  ) {
    this.#directory = options.directory;
    this.#handle = opened.handle;
    this.#previousSnapshotRv = opened.snapshotRv;
    const { onDurable, onFatal } = options;
    const { rv, sizeBytes } = opened;
    this.#commit = new GroupCommit({ file: durableFile(opened.handle), rv, sizeBytes, onDurable, onFatal });
  }

  /** Recovers what the directory holds and continues its log. */
  static async open(options: JournalOptions): Promise<{ journal: Journal; state: RecoveredState }> {
    await mkdir(options.directory, { recursive: true, mode: 0o700 });
    for (const path of (await findDataFiles(options.directory)).unfinished) await rm(path, { force: true });
    const state = await recoverState(options.directory, { repair: true });
    const { rv, snapshotRv, lastSegment, segmentBytes } = state;
    // A segment whose very first record was torn off has nothing to continue.
    const handle =
      lastSegment === undefined || segmentBytes === 0
        ? await createSegment(options.directory, rv)
        : await open(lastSegment.path, 'a', 0o600);
    return { journal: new Journal(options, { handle, rv, snapshotRv, sizeBytes: segmentBytes }), state };
  }

  get durableRv(): number {
    return this.#commit.durableRv;
  }

  /** Bytes in the current segment. */
  get sizeBytes(): number {
    return this.#commit.sizeBytes;
  }

  put(key: JournalKey, rv: number, written: WrittenPut): void {
    const { storage, namespace, name } = key;
    const { timeMs, json, facts } = written;
    this.#commit.append(rv, encodePut({ type: 'put', rv, timeMs, storage, namespace, name, facts }, json));
  }

  delete(key: JournalKey, rv: number, timeMs: number): void {
    const { storage, namespace, name } = key;
    this.#commit.append(rv, encodeRecord({ type: 'delete', rv, timeMs, storage, namespace, name }));
  }

  durable(rv: number): Promise<void> {
    return this.#commit.durable(rv);
  }

  /**
   * Starts a new segment, writes a snapshot of `state()` and drops what the previous snapshot has made superfluous.
   * The previous snapshot and the segments since stay, in case the new one turns out to be unreadable.
   */
  compact(state: () => { rv: number; timeMs: number; objects: readonly SnapshotObject[] }): Promise<void> {
    this.#compacting ??= this.#compactOnce(state).finally(() => {
      this.#compacting = undefined;
    });
    return this.#compacting;
  }

  async #compactOnce(state: Parameters<Journal['compact']>[0]): Promise<void> {
    const old = this.#handle;
    await this.#commit.rotate((rv) => this.#nextSegment(rv));
    if (old !== this.#handle) await old.close();
    const captured = state();
    // A snapshot may run ahead of the disk by what is being written now; it counts only once the log has it too.
    await this.#commit.durable(captured.rv);
    await writeSnapshot(snapshotPath(this.#directory, captured.rv), captured);
    const keepFrom = this.#previousSnapshotRv;
    this.#previousSnapshotRv = captured.rv;
    await this.#dropOlderThan(keepFrom);
  }

  async #nextSegment(rv: number): Promise<CommitFile> {
    this.#handle = await createSegment(this.#directory, rv);
    return durableFile(this.#handle);
  }

  async #dropOlderThan(rv: number): Promise<void> {
    const { segments, snapshots } = await findDataFiles(this.#directory);
    for (const snapshot of snapshots) if (snapshot.rv < rv) await rm(snapshot.path);
    for (const [index, segment] of segments.entries()) {
      const next = segments[index + 1];
      // Superfluous when the following segment already begins at or before the version that must stay readable.
      if (next !== undefined && next.rv <= rv) await rm(segment.path);
    }
    await syncDirectory(this.#directory);
  }

  /** Waits for what was appended; the journal must not be used afterwards. */
  async close(lastRv: number): Promise<void> {
    await this.#compacting?.catch(() => undefined);
    await this.#commit.durable(lastRv);
    await this.#handle.close();
  }
}

async function createSegment(directory: string, rv: number): Promise<FileHandle> {
  const handle = await open(segmentPath(directory, rv), 'w', 0o600);
  await handle.appendFile(encodeRecord({ type: 'segment', rv, format: 1 }));
  await handle.sync();
  await syncDirectory(directory);
  return handle;
}
