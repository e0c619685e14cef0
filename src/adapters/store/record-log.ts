import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, InputError } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import { LineFile } from './line-file.ts';

export interface RecordLogOptions {
  /** The directory of the history. */
  readonly dir: string;
  /** The name of the file, and of the records in errors. */
  readonly name: RecordLogName;
  /** The number of records to keep. Older ones are dropped. */
  readonly maxRecords: number;
  readonly log: Logger;
}

/** `deletions`: the objects that the sync deleted. `timeline`: what happened to clusters and works. */
export type RecordLogName = 'deletions' | 'timeline';

/**
 * A log of records other than decisions, one JSON document per line. A failed write loses records,
 * but stops nothing else.
 */
export class RecordLog<T> {
  readonly #options: RecordLogOptions;
  readonly #lines: LineFile;
  #waiting: T[] = [];
  #writing: Promise<void> | undefined;
  #count: number | undefined;

  constructor(options: RecordLogOptions) {
    this.#options = options;
    this.#lines = new LineFile(fileOf(options));
  }

  append(record: T): void {
    this.#waiting.push(record);
    this.#writing ??= this.#drain();
  }

  /**
   * All records, oldest first, including pending ones.
   * @throws InputError when the file exists and cannot be read
   */
  async read(): Promise<readonly T[]> {
    await this.flush();
    return readRecordLog(this.#options);
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
        this.#options.log.error(`${this.#options.name} were not recorded`, { records: batch, error });
      }
    }
    this.#writing = undefined;
  }

  async #write(batch: readonly T[]): Promise<void> {
    const { maxRecords } = this.#options;
    this.#count ??= (await readRecordLog(this.#options)).length;
    await this.#lines.append(batch.map((record) => JSON.stringify(record)));
    this.#count += batch.length;
    if (this.#count > maxRecords * 1.25) {
      const newest = (await readRecordLog<T>(this.#options)).slice(-maxRecords);
      await this.#lines.replace(newest.map((record) => JSON.stringify(record)));
      this.#count = newest.length;
    }
    await this.#lines.close();
  }
}

/**
 * The records, oldest first; none if nothing was recorded. Lines that a crash truncated are left out.
 * @throws InputError when the file exists and cannot be read
 */
export async function readRecordLog<T>(of: Pick<RecordLogOptions, 'dir' | 'name'>): Promise<readonly T[]> {
  const text = await readFile(fileOf(of), 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return '';
    const details = { code: `history.${of.name}`, subject: fileOf(of), cause };
    throw new InputError(`cannot be read: ${errorText(cause)}`, details);
  });
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as T];
    } catch {
      return [];
    }
  });
}

function fileOf({ dir, name }: Pick<RecordLogOptions, 'dir' | 'name'>): string {
  return join(dir, `${name}.jsonl`);
}
