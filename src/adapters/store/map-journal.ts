import { readFileSync } from 'node:fs';
import { LineFile } from './line-file.ts';

/**
 * Entries that were set after a snapshot of a map and had to be durable before the next one: the
 * first line is the snapshot's generation, then one `[key, value]` per line. It is valid for that
 * generation only, so it need not be removed when a newer snapshot is written.
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
    this.#generation = generation;
    return lines.flatMap((line) => {
      try {
        return line === '' ? [] : [JSON.parse(line) as [string, T]];
      } catch {
        return [];
      }
    });
  }

  /**
   * @param lines the JSON of an entry each
   * @returns true: the entries are on the disk; false: nothing was written, because the journal was removed
   */
  async append(generation: number, lines: readonly string[]): Promise<boolean> {
    if (this.#generation !== generation) {
      await this.#lines.replace([String(generation), ...lines]);
      this.#generation = generation;
      return true;
    }
    if (!(await this.#lines.exists())) return false;
    await this.#lines.append(lines, 'durable');
    return true;
  }

  close(): Promise<void> {
    return this.#lines.close();
  }
}
