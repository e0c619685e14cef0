import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, InputError } from '../../core/errors.ts';
import type { Logger } from '../../core/ports.ts';
import type { DeletionRecord } from '../../core/sync/deletion-record.ts';
import { LineFile } from './line-file.ts';

export interface DeletionLogOptions {
  /** The directory of the history. */
  readonly dir: string;
  /** Older records are dropped. */
  readonly maxRecords: number;
  readonly log: Logger;
}

/** The objects that the sync deleted, one JSON document per line. A write that fails loses records and never stops a deletion. */
export class DeletionLog {
  readonly #options: DeletionLogOptions;
  readonly #lines: LineFile;
  #waiting: DeletionRecord[] = [];
  #writing: Promise<void> | undefined;
  #count: number | undefined;

  constructor(options: DeletionLogOptions) {
    this.#options = options;
    this.#lines = new LineFile(fileIn(options.dir));
  }

  append(record: DeletionRecord): void {
    this.#waiting.push(record);
    this.#writing ??= this.#drain();
  }

  /**
   * What was recorded, oldest first, with what was appended just now.
   * @throws InputError when the file is there and cannot be read
   */
  async read(): Promise<readonly DeletionRecord[]> {
    await this.flush();
    return readDeletions(this.#options.dir);
  }

  /** Resolves when everything appended so far is in the file, or was reported as lost. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#write(batch);
      } catch (error) {
        const objects = batch.map(({ object }) => object);
        this.#options.log.error('deletions not recorded', { objects, error });
      }
    }
    this.#writing = undefined;
  }

  async #write(batch: readonly DeletionRecord[]): Promise<void> {
    const { dir, maxRecords } = this.#options;
    this.#count ??= (await readDeletions(dir)).length;
    await this.#lines.append(batch.map((record) => JSON.stringify(record)));
    this.#count += batch.length;
    if (this.#count > maxRecords * 1.25) {
      const newest = (await readDeletions(dir)).slice(-maxRecords);
      await this.#lines.replace(newest.map((record) => JSON.stringify(record)));
      this.#count = newest.length;
    }
    await this.#lines.close();
  }
}

/**
 * Oldest first; none where nothing was recorded. Lines that a crash cut off are left out.
 * @throws InputError when the file is there and cannot be read
 */
export async function readDeletions(dir: string): Promise<readonly DeletionRecord[]> {
  const text = await readFile(fileIn(dir), 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return '';
    const details = { code: 'history.deletions', subject: fileIn(dir), cause };
    throw new InputError(`cannot be read: ${errorText(cause)}`, details);
  });
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as DeletionRecord];
    } catch {
      return [];
    }
  });
}

function fileIn(dir: string): string {
  return join(dir, 'deletions.jsonl');
}
