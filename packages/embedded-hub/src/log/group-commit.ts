import type { FileHandle } from 'node:fs/promises';
import { extendDigest, type LogPosition } from './log-record.ts';

export interface CommitFile {
  append(bytes: Uint8Array): Promise<void>;
}

/** Appends and makes durable: fdatasync suffices because an append changes no metadata that a reader needs. */
export function durableFile(handle: FileHandle): CommitFile {
  return {
    async append(bytes) {
      await handle.appendFile(bytes);
      await handle.datasync();
    },
  };
}

/** The next file to write to, and its size and digest so far. */
export interface OpenedFile {
  readonly file: CommitFile;
  readonly position: LogPosition;
}

interface Rotation {
  readonly open: (rv: number) => Promise<OpenedFile>;
  readonly resolve: (rv: number) => void;
}

/**
 * Group commit: all records appended while the disk is busy are written with one write and one
 * fdatasync. Callers wait for `durable(rv)`; `onDurable` fires once per batch, in order. A failed
 * write or sync is reported once, to `onFatal`; after it no record becomes durable, because the
 * state of the disk is unknown until a restart reads it.
 */
export class GroupCommit {
  readonly #onDurable: (rv: number) => void;
  readonly #onFatal: (error: unknown) => void;
  #file: CommitFile;
  #pending: string[] = [];
  #appendedRv: number;
  #durableRv: number;
  #flushing = false;
  #failed = false;
  #durable: LogPosition;
  /** Digest of all appended records, durable or not. */
  #digest: number;
  #waiters: { readonly rv: number; readonly resolve: () => void }[] = [];
  #rotation: Rotation | undefined;

  constructor(options: {
    readonly file: CommitFile;
    readonly rv: number;
    /** Size and digest of the file so far. */
    readonly position: LogPosition;
    readonly onDurable: (rv: number) => void;
    readonly onFatal: (error: unknown) => void;
  }) {
    this.#file = options.file;
    this.#appendedRv = options.rv;
    this.#durableRv = options.rv;
    this.#durable = options.position;
    this.#digest = options.position.digest;
    this.#onDurable = options.onDurable;
    this.#onFatal = options.onFatal;
  }

  get durableRv(): number {
    return this.#durableRv;
  }

  /** The durable size and digest of the current file. */
  get position(): LogPosition {
    return this.#durable;
  }

  append(rv: number, line: string): void {
    this.#appendedRv = rv;
    this.#pending.push(line);
    this.#digest = extendDigest(this.#digest, line);
    if (this.#flushing || this.#failed) return;
    this.#flushing = true;
    // Records that are appended in this turn of the event loop join the batch.
    setImmediate(() => void this.#flush());
  }

  /** Resolves when everything up to `rv` is on the disk; never after a failure. */
  durable(rv: number): Promise<void> {
    if (rv <= this.#durableRv) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ rv, resolve }));
  }

  /** Continues in another file from the next batch on; resolves with the version that the old file ends with. */
  rotate(open: (rv: number) => Promise<OpenedFile>): Promise<number> {
    return new Promise((resolve) => {
      this.#rotation = { open, resolve };
      if (this.#flushing || this.#failed) return;
      this.#flushing = true;
      void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    try {
      for (;;) {
        if (this.#rotation !== undefined) await this.#openNextFile(this.#rotation);
        if (this.#pending.length === 0) break;
        await this.#writeBatch();
      }
      this.#flushing = false;
    } catch (error) {
      this.#failed = true;
      this.#onFatal(error);
    }
  }

  async #openNextFile(rotation: Rotation): Promise<void> {
    this.#rotation = undefined;
    const { file, position } = await rotation.open(this.#durableRv);
    this.#file = file;
    this.#durable = position;
    // Records that were appended meanwhile are written to the new file.
    this.#digest = this.#pending.reduce(extendDigest, position.digest);
    rotation.resolve(this.#durableRv);
  }

  async #writeBatch(): Promise<void> {
    const bytes = Buffer.from(this.#pending.join(''));
    const rv = this.#appendedRv;
    const digest = this.#digest;
    this.#pending = [];
    await this.#file.append(bytes);
    this.#durable = { bytes: this.#durable.bytes + bytes.length, digest };
    this.#durableRv = rv;
    this.#onDurable(rv);
    this.#wake();
  }

  #wake(): void {
    const reached = this.#durableRv;
    const later = this.#waiters.filter((waiter) => waiter.rv > reached);
    const due = this.#waiters.filter((waiter) => waiter.rv <= reached);
    this.#waiters = later;
    for (const waiter of due) waiter.resolve();
  }
}
