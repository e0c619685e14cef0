import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { errorText } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import { PRIVATE_DIRECTORY_MODE, PRIVATE_FILE_MODE } from '@berth/runtime/files/private-mode';
import { decodeSegment, encodeSegment } from './segment-file.ts';
import type { CacheRecord } from './segment-file.ts';

export interface RecordCacheOptions {
  readonly dir: string;
  /** Records with another stamp are discarded. It must contain everything that the meaning of records depends on. No spaces. */
  readonly stamp: string;
  readonly maxBytes?: number | undefined;
  readonly maxRecords?: number | undefined;
  readonly log: Logger;
}

const DEFAULT_MAX_BYTES = 128 * 1024 ** 2;
const DEFAULT_MAX_RECORDS = 200_000;
/** If there are more files, they are merged. */
const MAX_SEGMENTS = 16;
const SEGMENT = /^(\d{10})-[0-9a-f]{8}\.seg$/;

/**
 * A bounded cache on disk of immutable records. Nothing here throws: damaged or missing records
 * count as absent, and failed writes are reported and dropped. Several processes may share the
 * folder: files are created atomically with unique names, and a file that another process merged is
 * treated as missing.
 */
export class RecordCache {
  readonly #options: RecordCacheOptions;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: RecordCacheOptions) {
    this.#options = options;
  }

  /**
   * Calls back for each wanted record in the cache, in no particular order. The bytes are only valid during the call.
   * @returns the keys that are not in the cache
   */
  async read(
    wanted: ReadonlySet<string>,
    onRecord: (record: CacheRecord) => void,
  ): Promise<ReadonlySet<string>> {
    await this.#removeLeftovers();
    const missing = new Set(wanted);
    // The newest first, because recent records are needed most.
    for (const file of (await this.#files()).reverse()) {
      if (missing.size === 0) break;
      for (const record of await this.#recordsOf(file)) if (missing.delete(record.key)) onRecord(record);
    }
    return missing;
  }

  /**
   * Adds records in the background; `isLive` selects the records that stay when the cache is full.
   */
  add(records: readonly CacheRecord[], isLive: (key: string) => boolean): void {
    this.#writing = this.#writing
      .then(() => this.#write(records))
      .then(() => this.#shrink(isLive))
      .catch((error: unknown) =>
        this.#options.log.warn('the cache was not written; it will be filled again later', {
          folder: this.#options.dir,
          error: errorText(error),
        }),
      );
  }

  /** Resolves when everything added so far is on disk, or has failed. */
  flush(): Promise<void> {
    return this.#writing;
  }

  async #write(records: readonly CacheRecord[]): Promise<string> {
    const { dir, stamp } = this.#options;
    await mkdir(dir, { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
    const newest = Number(SEGMENT.exec((await this.#files()).at(-1) ?? '')?.[1] ?? 0);
    const name = `${String(newest + 1).padStart(10, '0')}-${randomBytes(4).toString('hex')}.seg`;
    const temporary = path.join(dir, `${name}.${process.pid}.tmp`);
    try {
      await writeFile(temporary, encodeSegment(stamp, records), { mode: PRIVATE_FILE_MODE });
      await rename(temporary, path.join(dir, name));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    return name;
  }

  /**
   * Merges small files into one. If the cache is too large, drops records that are not live, then
   * further ones beyond the limit.
   */
  async #shrink(isLive: (key: string) => boolean): Promise<void> {
    const { dir, maxBytes = DEFAULT_MAX_BYTES, maxRecords = DEFAULT_MAX_RECORDS } = this.#options;
    await this.#removeLeftovers();
    const files = await this.#files();
    const sizes = await Promise.all(files.map((file) => this.#sizeOf(file)));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const tooLarge = bytes > maxBytes || (await this.#mayHoldMoreThan(maxRecords, bytes));
    if (files.length <= MAX_SEGMENTS && !tooLarge) return;
    const largest = sizes.indexOf(Math.max(...sizes));
    const merged = tooLarge ? files : files.filter((_file, index) => index !== largest);
    const records = new Map<string, CacheRecord>();
    for (const file of merged.toReversed())
      for (const record of await this.#recordsOf(file))
        if (!records.has(record.key)) records.set(record.key, record);
    await this.#write(
      tooLarge ? selectWithin([...records.values()], isLive, maxBytes, maxRecords) : [...records.values()],
    );
    for (const file of merged) await rm(path.join(dir, file), { force: true });
  }

  /** Records are counted only if there may be too many: each is at least as long as its line. */
  async #mayHoldMoreThan(maxRecords: number, bytes: number): Promise<boolean> {
    if (bytes < maxRecords * SHORTEST_RECORD_BYTES) return false;
    let count = 0;
    for (const file of await this.#files()) count += (await this.#recordsOf(file)).length;
    return count > maxRecords;
  }

  async #recordsOf(file: string): Promise<readonly CacheRecord[]> {
    const { dir, stamp, maxBytes = DEFAULT_MAX_BYTES } = this.#options;
    const filePath = path.join(dir, file);
    // A file of twice the limit was not written by this class.
    if ((await this.#sizeOf(file)) > 2 * maxBytes) return [];
    const content = await readFile(filePath).catch(() => undefined);
    if (content === undefined) return [];
    const records = decodeSegment(stamp, content);
    if (records === undefined) await rm(filePath, { force: true }).catch(() => undefined);
    return records ?? [];
  }

  /** Names of the files, oldest first. */
  async #files(): Promise<string[]> {
    const names = await readdir(this.#options.dir).catch((): string[] => []);
    return names.filter((name) => SEGMENT.test(name)).sort();
  }

  async #sizeOf(file: string): Promise<number> {
    return (await stat(path.join(this.#options.dir, file)).catch(() => undefined))?.size ?? 0;
  }

  /** Removes incomplete files of killed processes. */
  async #removeLeftovers(): Promise<void> {
    for (const name of await readdir(this.#options.dir).catch((): string[] => [])) {
      const owner = /\.seg\.(\d+)\.tmp$/.exec(name)?.[1];
      if (owner !== undefined && !isAlive(Number(owner)))
        await rm(path.join(this.#options.dir, name), { force: true }).catch(() => undefined);
    }
  }
}

const SHORTEST_RECORD_BYTES = 50;

/** Live records first, then the rest, the newest first, up to half of the limits. */
function selectWithin(
  records: readonly CacheRecord[],
  isLive: (key: string) => boolean,
  maxBytes: number,
  maxRecords: number,
): CacheRecord[] {
  const kept: CacheRecord[] = [];
  let bytes = 0;
  const take = (record: CacheRecord, share: number): void => {
    if (bytes + record.bytes.length > maxBytes * share || kept.length >= maxRecords * share) return;
    bytes += record.bytes.length + SHORTEST_RECORD_BYTES;
    kept.push(record);
  };
  for (const record of records) if (isLive(record.key)) take(record, 0.9);
  for (const record of records) if (!isLive(record.key)) take(record, 0.5);
  return kept;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
