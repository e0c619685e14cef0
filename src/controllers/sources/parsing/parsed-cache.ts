import { setImmediate } from 'node:timers/promises';
import type { TreeFile } from '@berth/git-reader/repository/tree-safety';
import { groupBy } from '@berth/runtime/lists/group-by';
import type { Logger } from '@berth/runtime/logger';
import { builtFrom } from '../../../adapters/program/package-root.ts';
import { type CacheEntry, EntryCache } from '../../../adapters/store/entry-cache.ts';
import type { ParsedFile } from '../../../adapters/yaml/parse-manifests.ts';
import { decodeParsedFile, encodeParsedFile } from './parsed-record.ts';

/** New records are buffered up to this number, so that small commits do not create small files. */
const WRITE_FROM_RECORDS = 64;
const ENCODED_AT_ONCE = 200;

/**
 * Parsed files, cached on disk by blob id, so that a restart parses only new ones. A build with
 * another parser starts empty, because it may parse a file differently.
 */
export class ParsedCache implements ParsedFiles {
  readonly #records: EntryCache;
  #added: Added[] = [];
  #writing: Promise<void> = Promise.resolve();
  #live: () => ReadonlySet<string> = () => new Set();

  constructor(options: {
    readonly dir: string;
    readonly log: Logger;
    readonly maxBytes?: number | undefined;
  }) {
    this.#records = new EntryCache({ ...options, stamp: builtFrom()?.parser ?? 'sources' });
  }

  /**
   * Calls back for each file in the cache, in no particular order.
   * @returns the files that are not in the cache
   */
  async read(
    files: readonly TreeFile[],
    onFile: (file: TreeFile, parsed: ParsedFile) => void,
  ): Promise<readonly TreeFile[]> {
    const filesOf = groupBy(files, (file) => file.id);
    const left = await this.#records.read(new Set(filesOf.keys()), ({ key: id, bytes }) => {
      const text = bytes.toString('utf8');
      for (const file of filesOf.get(id) ?? []) onFile(file, decodeParsedFile(file.path, text));
    });
    return left.size === 0 ? [] : files.filter(({ id }) => left.has(id));
  }

  add({ id }: Pick<TreeFile, 'id'>, parsed: ParsedFile): void {
    this.#added.push({ id, parsed });
  }

  /** Adds a record that is already encoded. */
  addRecord({ id }: Pick<TreeFile, 'id'>, bytes: Buffer): void {
    this.#added.push({ id, bytes });
  }

  /**
   * Writes the added records when there are enough. `live`: the blobs of the current commit, which
   * stay when the cache is full.
   */
  settle(live: () => ReadonlySet<string>): void {
    this.#live = live;
    if (this.#added.length >= WRITE_FROM_RECORDS) this.#write();
  }

  async close(): Promise<void> {
    this.#write();
    await this.#writing;
    await this.#records.flush();
  }

  #write(): void {
    const added = this.#added;
    this.#added = [];
    if (added.length === 0) return;
    const live = this.#live();
    this.#writing = this.#writing.then(async () => {
      this.#records.add(await encoded(added), (id) => live.has(id));
    });
  }
}

type Added = { readonly id: string } & ({ readonly parsed: ParsedFile } | { readonly bytes: Buffer });

/** In slices, so that callers that wait for parsed files are not delayed. */
async function encoded(added: readonly Added[]): Promise<CacheEntry[]> {
  const records: CacheEntry[] = [];
  for (const one of added) {
    if (records.length % ENCODED_AT_ONCE === 0) await setImmediate();
    const bytes = 'bytes' in one ? one.bytes : Buffer.from(encodeParsedFile(one.parsed));
    records.push({ key: one.id, bytes });
  }
  return records;
}

/** A cache of parsed files, by the id of their blob. */
export interface ParsedFiles {
  /**
   * Calls `onFile` for each file in the cache, in no particular order.
   * @returns the files that are not in the cache
   */
  read(
    files: readonly TreeFile[],
    onFile: (file: TreeFile, parsed: ParsedFile) => void,
  ): Promise<readonly TreeFile[]>;
  add(file: TreeFile, parsed: ParsedFile): void;
  /** Adds a file that is already encoded. */
  addRecord(file: TreeFile, bytes: Buffer): void;
  /**
   * Called when the added files may be stored.
   * @param live the blobs of the current commit, which are kept if there is not enough space for all
   */
  settle(live: () => ReadonlySet<string>): void;
}
