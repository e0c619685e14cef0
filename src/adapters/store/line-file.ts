import { type FileHandle, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PRIVATE_FILE_MODE } from '@berth/runtime/files/private-mode';
import { writeFileAtomic, withDirectory, syncDirectory } from '@berth/runtime/files/atomic-file';

/**
 * An append-only file of lines. It is opened for a series of appends and closed after it. An
 * incomplete last line, left by a crash or a full disk, is terminated first, so that the next line
 * does not become part of it.
 */
export class LineFile {
  readonly #file: string;
  #handle: FileHandle | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /**
   * @param lines without line breaks. `durable`: the lines are on disk when this resolves, not only in the cache of the
   *   system
   */
  async append(lines: readonly string[], until: 'written' | 'durable' = 'written'): Promise<void> {
    const handle = (this.#handle ??= await openAtLineStart(this.#file));
    try {
      await handle.appendFile(textOf(lines));
      if (until === 'durable') await handle.datasync();
    } catch (error) {
      // It is unknown how much was written.
      await this.close().catch(() => undefined);
      throw error;
    }
  }

  /** Replaces all lines; resolves when they are on the disk. */
  async replace(lines: readonly string[]): Promise<void> {
    await this.close();
    await writeFileAtomic(this.#file, textOf(lines));
    await syncDirectory(dirname(this.#file));
  }

  /** False if the file was removed, moved or replaced. The next append then creates a new file. */
  async exists(): Promise<boolean> {
    const [found, own] = await Promise.all([
      stat(this.#file).catch(() => undefined),
      this.#handle?.stat().catch(() => undefined),
    ]);
    if (found !== undefined && (own === undefined || own.ino === found.ino)) return true;
    await this.close().catch(() => undefined);
    return false;
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}

/** Lines may be long, so each is copied only once. */
function textOf(lines: readonly string[]): string {
  return [...lines, ''].join('\n');
}

async function openAtLineStart(file: string): Promise<FileHandle> {
  const handle = await withDirectory(dirname(file), () => open(file, 'a+', PRIVATE_FILE_MODE));
  try {
    const { size } = await handle.stat();
    if (size === 0) return handle;
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    if (buffer[0] !== LINE_END) await handle.appendFile('\n');
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const LINE_END = 0x0a;
