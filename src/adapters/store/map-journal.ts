import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { LineFile } from './line-file.ts';

/**
 * Entries that were set after a snapshot of a map and had to be durable before the next one: the
 * first line is the snapshot's generation, the second one the name of the file, then one `[key, value]` per line. It is
 * valid for that generation only, so it need not be removed when a newer snapshot is written. Earlier versions
 * wrote no name, and skip the line, which is no JSON.
 */
export class MapJournal<T> {
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
   * @returns true: the entries are on the disk; false: nothing was written, because the journal was removed
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

const NAME_MARK = '# ';

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
