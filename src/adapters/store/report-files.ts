import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_DIRECTORY_MODE } from '@berth/runtime/files/private-mode';
import { writeFileAtomic } from '@berth/runtime/files/atomic-file';
import { Subscribers } from '@berth/runtime/loop/subscribers';

/** The limit for one source. */
const MAX_REPORTS = 200;

/**
 * Pages and images of previews, one file each. The files of the newest pull requests of each source
 * are kept.
 */
export class ReportFiles {
  readonly #dir: string;
  /** Emits each number of a pull request whose files were written. */
  readonly written = new Subscribers<number>();

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** @param files by extension, `html`, `svg` or `json` */
  async write(
    source: string,
    number: number,
    files: Readonly<Record<string, string | undefined>>,
  ): Promise<void> {
    const dir = join(this.#dir, source);
    await mkdir(dir, { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
    for (const [ending, content] of Object.entries(files)) {
      const file = join(dir, `${number}.${ending}`);
      await (content === undefined ? rm(file, { force: true }) : writeFileAtomic(file, content));
    }
    const numbers = new Set((await readdir(dir)).map((name) => Number.parseInt(name, 10)));
    const old = [...numbers].toSorted((a, b) => b - a).slice(MAX_REPORTS);
    for (const one of old)
      for (const ending of Object.keys(files)) await rm(join(dir, `${one}.${ending}`), { force: true });
    await this.written.emit(number);
  }

  /** @param name `12.html`; the caller must have checked its form */
  read(source: string, name: string): Promise<Buffer | undefined> {
    return readFile(join(this.#dir, source, name)).catch(() => undefined);
  }
}
