import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { errorText } from '@berth/runtime/errors';
import { PRIVATE_DIRECTORY_MODE, PRIVATE_FILE_MODE } from '@berth/runtime/files/private-mode';
import type { Logger } from '@berth/runtime/logger';

export interface EntryCacheOptions {
  readonly dir: string;
  /** Entries with another stamp are discarded. It must contain everything that the meaning of entries depends on. No spaces. */
  readonly stamp: string;
  readonly maxBytes?: number | undefined;
  readonly maxEntries?: number | undefined;
  readonly log: Logger;
}

const DEFAULT_MAX_BYTES = 128 * 1024 ** 2;
const DEFAULT_MAX_ENTRIES = 200_000;
/** If there are more files, they are merged. */
const MAX_SEGMENTS = 16;
const SEGMENT = /^(\d{10})-[0-9a-f]{8}\.seg$/;

/**
 * A bounded cache on disk of immutable entries. Nothing here throws: damaged or missing entries
 * count as absent, and failed writes are reported and dropped. Several processes may share the
 * folder: files are created atomically with unique names, and a file that another process merged is
 * treated as missing.
 */
export class EntryCache {
  readonly #options: EntryCacheOptions;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: EntryCacheOptions) {
    this.#options = options;
  }

  /**
   * Calls back for each wanted entry in the cache, in no particular order. The bytes are only valid during the call.
   * @returns the keys that are not in the cache
   */
  async read(
    wanted: ReadonlySet<string>,
    onEntry: (entry: CacheEntry) => void,
  ): Promise<ReadonlySet<string>> {
    await this.#removeLeftovers();
    const missing = new Set(wanted);
    // The newest first, because recent entries are needed most.
    for (const file of (await this.#files()).reverse()) {
      if (missing.size === 0) break;
      for (const entry of await this.#entriesOf(file)) if (missing.delete(entry.key)) onEntry(entry);
    }
    return missing;
  }

  /**
   * Adds entries in the background; `isLive` selects the entries that stay when the cache is full.
   */
  add(entries: readonly CacheEntry[], isLive: (key: string) => boolean): void {
    this.#writing = this.#writing
      .then(() => this.#write(entries))
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

  async #write(entries: readonly CacheEntry[]): Promise<string> {
    const { dir, stamp } = this.#options;
    await mkdir(dir, { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
    const newest = Number(SEGMENT.exec((await this.#files()).at(-1) ?? '')?.[1] ?? 0);
    const name = `${String(newest + 1).padStart(10, '0')}-${randomBytes(4).toString('hex')}.seg`;
    const temporary = path.join(dir, `${name}.${process.pid}.tmp`);
    try {
      await writeFile(temporary, encodeSegment(stamp, entries), { mode: PRIVATE_FILE_MODE });
      await rename(temporary, path.join(dir, name));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    return name;
  }

  /**
   * Merges small files into one. If the cache is too large, drops entries that are not live, then
   * further ones beyond the limit.
   */
  async #shrink(isLive: (key: string) => boolean): Promise<void> {
    const { dir, maxBytes = DEFAULT_MAX_BYTES, maxEntries = DEFAULT_MAX_ENTRIES } = this.#options;
    await this.#removeLeftovers();
    const files = await this.#files();
    const sizes = await Promise.all(files.map((file) => this.#sizeOf(file)));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const tooLarge = bytes > maxBytes || (await this.#mayHoldMoreThan(maxEntries, bytes));
    if (files.length <= MAX_SEGMENTS && !tooLarge) return;
    const largest = sizes.indexOf(Math.max(...sizes));
    const merged = tooLarge ? files : files.filter((_file, index) => index !== largest);
    const entries = new Map<string, CacheEntry>();
    for (const file of merged.toReversed())
      for (const entry of await this.#entriesOf(file))
        if (!entries.has(entry.key)) entries.set(entry.key, entry);
    await this.#write(
      tooLarge ? selectWithin([...entries.values()], isLive, maxBytes, maxEntries) : [...entries.values()],
    );
    for (const file of merged) await rm(path.join(dir, file), { force: true });
  }

  /** Entries are counted only if there may be too many: each is at least as long as its line. */
  async #mayHoldMoreThan(maxEntries: number, bytes: number): Promise<boolean> {
    if (bytes < maxEntries * SHORTEST_ENTRY_BYTES) return false;
    let count = 0;
    for (const file of await this.#files()) count += (await this.#entriesOf(file)).length;
    return count > maxEntries;
  }

  async #entriesOf(file: string): Promise<readonly CacheEntry[]> {
    const { dir, stamp, maxBytes = DEFAULT_MAX_BYTES } = this.#options;
    const filePath = path.join(dir, file);
    // A file of twice the limit was not written by this class.
    if ((await this.#sizeOf(file)) > 2 * maxBytes) return [];
    const content = await readFile(filePath).catch(() => undefined);
    if (content === undefined) return [];
    const entries = decodeSegment(stamp, content);
    if (entries === undefined) await rm(filePath, { force: true }).catch(() => undefined);
    return entries ?? [];
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

const SHORTEST_ENTRY_BYTES = 50;

/** Live entries first, then the rest, the newest first, up to half of the limits. */
function selectWithin(
  entries: readonly CacheEntry[],
  isLive: (key: string) => boolean,
  maxBytes: number,
  maxEntries: number,
): CacheEntry[] {
  const kept: CacheEntry[] = [];
  let bytes = 0;
  const take = (entry: CacheEntry, share: number): void => {
    if (bytes + entry.bytes.length > maxBytes * share || kept.length >= maxEntries * share) return;
    bytes += entry.bytes.length + SHORTEST_ENTRY_BYTES;
    kept.push(entry);
  };
  for (const entry of entries) if (isLive(entry.key)) take(entry, 0.9);
  for (const entry of entries) if (!isLive(entry.key)) take(entry, 0.5);
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

/**
 * A file of entries, each with its length and checksum, after a header line with the version of its
 * writer: `berth-cache 1 STAMP\n` and then `KEY LENGTH CRC32\n` with LENGTH bytes and a line break,
 * repeatedly. It is not synced; entries damaged by a crash are detected and count as absent.
 */
export interface CacheEntry {
  /** Letters and digits only. */
  readonly key: string;
  readonly bytes: Buffer;
}

export function encodeSegment(stamp: string, entries: readonly CacheEntry[]): Buffer {
  const parts: Buffer[] = [Buffer.from(`${headerOf(stamp)}\n`)];
  for (const { key, bytes } of entries)
    parts.push(Buffer.from(`${key} ${bytes.length} ${crc32(bytes).toString(16)}\n`), bytes, LINE_BREAK);
  return Buffer.concat(parts);
}

/** The intact entries of a segment; undefined if another version wrote it. */
export function decodeSegment(stamp: string, content: Buffer): CacheEntry[] | undefined {
  const headerEnd = content.indexOf(0x0a);
  if (headerEnd === -1 || content.toString('latin1', 0, headerEnd) !== headerOf(stamp)) return undefined;
  const entries: CacheEntry[] = [];
  let at = headerEnd + 1;
  while (at < content.length) {
    const lineEnd = content.indexOf(0x0a, at);
    if (lineEnd === -1) break;
    const line = /^([A-Za-z0-9]+) (\d{1,10}) ([0-9a-f]{1,8})$/.exec(content.toString('latin1', at, lineEnd));
    // Without a length, the start of the next entry is unknown.
    if (line === null) break;
    const [, key = '', length, checksum = ''] = line;
    const start = lineEnd + 1;
    const end = start + Number(length);
    if (end >= content.length || content[end] !== 0x0a) break;
    const bytes = content.subarray(start, end);
    if (crc32(bytes) === Number.parseInt(checksum, 16)) entries.push({ key, bytes });
    at = end + 1;
  }
  return entries;
}

const LINE_BREAK = Buffer.from('\n');

function headerOf(stamp: string): string {
  return `berth-cache 1 ${stamp}`;
}
