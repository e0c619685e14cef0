import { readFileSync } from 'node:fs';
import { LineFile } from './line-file.ts';

/**
 * What was set since a snapshot of a map and could not wait for the next one: a first line that names the snapshot's generation, then
 * one `[key, value]` per line. It counts for that generation only, so that nothing has to be removed when a newer snapshot holds it all.
 */
export class MapJournal<T> {
  readonly #file: string;
  readonly #lines: LineFile;
  /** Of the snapshot that the file goes with; undefined while it goes with none. */
  #generation: number | undefined;

  constructor(file: string) {
    this.#file = file;
    this.#lines = new LineFile(file);
  }

  /** The entries that go with the snapshot, oldest first; a line that a crash cut off is left out. */
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
    if (!(await this.#lines.isThere())) return false;
    await this.#lines.append(lines, 'durable');
    return true;
  }

  close(): Promise<void> {
    return this.#lines.close();
  }
}
