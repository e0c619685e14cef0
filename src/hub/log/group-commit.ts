import type { FileHandle } from 'node:fs/promises';

export interface CommitFile {
  append(text: string): Promise<void>;
}

/** Appends and makes durable: fdatasync suffices because an append changes no metadata that a reader needs. */
export function durableFile(handle: FileHandle): CommitFile {
  return {
    async append(text) {
      await handle.appendFile(text);
      await handle.datasync();
    },
  };
}

interface Rotation {
  readonly open: (rv: number) => Promise<CommitFile>;
  readonly resolve: (rv: number) => void;
}

/**
 * Group commit: everything appended while the disk is busy goes out as one write and one fdatasync. Callers wait for
 * `durable(rv)`; `onDurable` fires once per batch, in order. A failed write or sync is reported once, to `onFatal`, and
 * nothing is ever called durable afterwards: the state of the disk is unknown then, and only a restart can tell.
 */
export class GroupCommit {
  readonly #onDurable: (rv: number) => void;
  readonly #onFatal: (error: unknown) => void;
  #file: CommitFile;
  #pending: string[] = [];
  #appendedRv: number;
  #durableRv: number;
  #flushing = false;
  #dead = false;
  #waiters: { readonly rv: number; readonly resolve: () => void }[] = [];
  #bytes = 0;
  #rotation: Rotation | undefined;

  constructor(options: {
    readonly file: CommitFile;
    readonly rv: number;
    /** Bytes that the file holds already. */
    readonly sizeBytes: number;
    readonly onDurable: (rv: number) => void;
    readonly onFatal: (error: unknown) => void;
  }) {
    this.#file = options.file;
    this.#appendedRv = options.rv;
    this.#durableRv = options.rv;
    this.#bytes = options.sizeBytes;
    this.#onDurable = options.onDurable;
    this.#onFatal = options.onFatal;
  }

  get durableRv(): number {
    return this.#durableRv;
  }

  /** Bytes in the current file. */
  get sizeBytes(): number {
    return this.#bytes;
  }

  append(rv: number, line: string): void {
    this.#appendedRv = rv;
    this.#pending.push(line);
    if (this.#flushing || this.#dead) return;
    this.#flushing = true;
    // All that this turn of the event loop still produces joins the batch.
    setImmediate(() => void this.#flush());
  }

  /** Resolves when everything up to `rv` is on the disk; never after a failure. */
  durable(rv: number): Promise<void> {
    if (rv <= this.#durableRv) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ rv, resolve }));
  }

  /** Continues in another file from the next batch on; resolves with the version that the old file ends with. */
  rotate(open: (rv: number) => Promise<CommitFile>): Promise<number> {
    return new Promise((resolve) => {
      this.#rotation = { open, resolve };
      if (this.#flushing || this.#dead) return;
      this.#flushing = true;
      void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    try {
      for (;;) {
        if (this.#rotation !== undefined) await this.#turnOver(this.#rotation);
        if (this.#pending.length === 0) break;
        await this.#writeBatch();
      }
      this.#flushing = false;
    } catch (error) {
      this.#dead = true;
      this.#onFatal(error);
    }
  }

  async #turnOver(rotation: Rotation): Promise<void> {
    this.#rotation = undefined;
    this.#file = await rotation.open(this.#durableRv);
    this.#bytes = 0;
    rotation.resolve(this.#durableRv);
  }

  async #writeBatch(): Promise<void> {
    const text = this.#pending.join('');
    const rv = this.#appendedRv;
    this.#pending = [];
    await this.#file.append(text);
    this.#bytes += text.length;
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
