import { mkdirSync, readFileSync, renameSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Clock } from '@berth/runtime/clock/clock';
import { removeTemporaryFiles, writeFileAtomic, syncDirectory } from '@berth/runtime/files/atomic-file';
import { PRIVATE_DIRECTORY_MODE } from '@berth/runtime/files/private-mode';
import type { Logger } from '@berth/runtime/logger';
import { sha256 } from '@berth/runtime/sha256';
import { LineFile } from './line-file.ts';

/**
 * A map of JSON values in memory, kept in one file. Writes are collected for a short time; a crash
 * loses at most these, but no awaited one. A file that cannot be read, or is not this one, is renamed, and
 * the map starts empty. The first line contains the entries, the second one the generation, which the
 * file of appended entries names, and the third one a digest of both and of the name. Files of earlier versions have no digest.
 */
export class JsonFileMap<T> {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #values: Map<string, T>;
  /**
   * Cached JSON of unchanged entries, since a map of thousands is written again for a few changes.
   */
  readonly #texts = new Map<string, string>();
  readonly #appended: AppendedEntries<T>;
  #generation = 0;
  /** Entries of the next append. */
  #urgent: (readonly [string, T])[] = [];
  #appending: Promise<void> | undefined;
  #pending: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(file: string, clock: Clock, log: Logger) {
    this.#file = file;
    this.#clock = clock;
    this.#log = log;
    mkdirSync(dirname(file), { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
    removeTemporaryFiles(file);
    this.#values = this.#load();
    this.#appended = new AppendedEntries(`${file}.journal`);
    removeTemporaryFiles(`${file}.journal`);
    for (const [key, value] of this.#appended.read(this.#generation)) this.#values.set(key, value);
  }

  get(key: string): T | undefined {
    return this.#values.get(key);
  }

  keys(): readonly string[] {
    return [...this.#values.keys()];
  }

  set(key: string, value: T): void {
    this.#values.set(key, value);
    this.#texts.delete(key);
    this.#schedule();
  }

  /**
   * Sets a value, and resolves when it is on the disk, by an append that concurrent callers share.
   * @throws errors of the file system; the value is set anyway, and written later
   */
  persist(key: string, value: T): Promise<void> {
    this.set(key, value);
    this.#urgent.push([key, value]);
    this.#appending ??= this.#afterWrites(() => {
      const entries = this.#urgent;
      this.#urgent = [];
      this.#appending = undefined;
      return this.#append(entries);
    });
    return this.#appending;
  }

  /**
   * Writes the file again if it was removed and there are entries. Call it periodically, because nothing reports the
   * removal.
   */
  async keep(): Promise<void> {
    if (this.#values.size > 0 && this.#pending === undefined && !(await this.#fileExists()))
      await this.#write();
  }

  delete(key: string): void {
    this.#texts.delete(key);
    if (this.#values.delete(key)) this.#schedule();
  }

  clear(): void {
    this.#texts.clear();
    this.#values.clear();
    this.#schedule();
  }

  /**
   * Resolves when the file contains the current map.
   * @throws errors of the file system; the map is written later anyway
   */
  async flush(): Promise<void> {
    this.#pending?.();
    this.#pending = undefined;
    try {
      await this.#afterWrites(() => this.#writeAll());
    } catch (error) {
      this.#schedule();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#pending?.();
    if (this.#pending !== undefined) await this.#write();
    await this.#writing;
    await this.#appended.close();
  }

  #schedule(): void {
    this.#pending ??= this.#clock.schedule(WRITE_DELAY_MS, () => {
      this.#pending = undefined;
      void this.#write();
    });
  }

  #write(): Promise<void> {
    this.#pending = undefined;
    return this.#afterWrites(() => this.#writeAll()).catch((error: unknown) => {
      this.#log.error('a state file was not written; it will be retried', { file: this.#file, error });
      this.#schedule();
    });
  }

  async #writeAll(): Promise<void> {
    const generation = this.#generation + 1;
    const entries = Array.from(this.#values, ([key, value]) => this.#textOf(key, value));
    const content = `[${entries.join(',')}]\n${generation}\n`;
    await writeFileAtomic(this.#file, `${content}${this.#digestOf(content)}\n`);
    // The file is replaced now, so the appended entries belong to the new generation even if the following
    // steps fail.
    this.#generation = generation;
    await syncDirectory(dirname(this.#file));
  }

  /** Writes everything if the file or that of the appended entries was removed, because one cannot be read without the other. */
  async #append(entries: readonly (readonly [string, T])[]): Promise<void> {
    const lines = entries.map(([key, value]) => this.#lineOf(key, value));
    const isWhole = (await this.#fileExists()) && (await this.#appended.append(this.#generation, lines));
    if (isWhole) return;
    this.#log.warn('a state file was removed and is written again', { file: this.#file });
    await this.#writeAll();
  }

  /** True also if nothing was written yet. */
  async #fileExists(): Promise<boolean> {
    return this.#generation === 0 || (await stat(this.#file).catch(() => undefined)) !== undefined;
  }

  /** The next snapshot has the same text, unless the value was set again meanwhile. */
  #lineOf(key: string, value: T): string {
    return this.#values.get(key) === value ? this.#textOf(key, value) : JSON.stringify([key, value]);
  }

  #textOf(key: string, value: T): string {
    let text = this.#texts.get(key);
    if (text === undefined) this.#texts.set(key, (text = JSON.stringify([key, value])));
    return text;
  }

  /** Serializes writes, so that each appended entry belongs to the snapshot before it. */
  #afterWrites(write: () => Promise<void>): Promise<void> {
    const done = this.#writing.then(write);
    this.#writing = done.catch(() => undefined);
    return done;
  }

  /** Of the name, too, so that the file of another map is not taken for this one. */
  #digestOf(content: string): string {
    return sha256(`${basename(this.#file)}\n${content}`);
  }

  /**
   * @param rest the other lines; without any, the file is of a version that had no generations
   * @throws Error when the file is damaged
   */
  #entriesOf(entries: string, rest: readonly string[]): readonly (readonly [string, T])[] {
    const [generation, digest] = rest;
    if (rest.length > 0 && !/^\d+$/.test(generation ?? ''))
      throw new Error('its second line is no generation');
    if (digest !== undefined && digest !== '' && digest !== this.#digestOf(`${entries}\n${generation}\n`))
      throw new Error('its digest is not that of its content and its name');
    const values: unknown = JSON.parse(entries);
    if (!Array.isArray(values)) throw new Error('its first line is no list');
    return values as readonly (readonly [string, T])[];
  }

  #load(): Map<string, T> {
    let text: string;
    try {
      text = readFileSync(this.#file, 'utf8');
    } catch {
      return new Map();
    }
    try {
      const [entries = '', ...rest] = text.split('\n');
      const values = new Map(this.#entriesOf(entries, rest));
      this.#generation = Number(rest[0] ?? 0);
      return values;
    } catch (error) {
      this.#log.error('state file is damaged: renamed, starting without it', { file: this.#file, error });
      renameSync(this.#file, `${this.#file}.damaged`);
      return new Map();
    }
  }
}

const WRITE_DELAY_MS = 250;

const NAME_MARK = '# ';

/**
 * Entries that were set after a snapshot of a map and had to be durable before the next one: the
 * first line is the snapshot's generation, the second one the name of the file, then one `[key, value]` per line. It is
 * valid for that generation only, so it need not be removed when a newer snapshot is written. Earlier versions
 * wrote no name, and skip the line, which is no JSON.
 */
class AppendedEntries<T> {
  readonly #file: string;
  readonly #lines: LineFile;
  /** Generation of the snapshot that the file belongs to; undefined if none. */
  #generation: number | undefined;

  constructor(file: string) {
    this.#file = file;
    this.#lines = new LineFile(file);
  }

  /** The entries for the snapshot, oldest first, without an incomplete last line. */
  read(generation: number): readonly (readonly [string, T])[] {
    let text: string;
    try {
      text = readFileSync(this.#file, 'utf8');
    } catch {
      return [];
    }
    const [head, ...lines] = text.split('\n');
    if (head !== String(generation)) return [];
    // The file of another map.
    if (lines[0]?.startsWith(NAME_MARK) === true && lines[0] !== this.#nameLine) return [];
    this.#generation = generation;
    return lines.flatMap((line) => entryOf<T>(line) ?? []);
  }

  /**
   * @param lines the JSON of an entry each
   * @returns true: the entries are on the disk; false: nothing was written, because the file was removed
   */
  async append(generation: number, lines: readonly string[]): Promise<boolean> {
    if (this.#generation !== generation) {
      await this.#lines.replace([String(generation), this.#nameLine, ...lines]);
      this.#generation = generation;
      return true;
    }
    if (!(await this.#lines.exists())) return false;
    await this.#lines.append(lines, 'durable');
    return true;
  }

  get #nameLine(): string {
    return `${NAME_MARK}${basename(this.#file)}`;
  }

  close(): Promise<void> {
    return this.#lines.close();
  }
}

/** Undefined for the name of the file, an incomplete line, and what is no entry. */
function entryOf<T>(line: string): readonly [readonly [string, T]] | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    if (Array.isArray(entry) && entry.length === 2 && typeof entry[0] === 'string')
      return [entry as [string, T]];
  } catch {
    // Damage, or the end of an append that a crash interrupted.
  }
  return undefined;
}
