import { readdirSync, rmSync, closeSync, fsyncSync, openSync } from 'node:fs';
import { open, rename, rm, mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { PRIVATE_FILE_MODE, PRIVATE_DIRECTORY_MODE } from './private-mode.ts';

/**
 * Replaces the content of a file so that a reader, or a crash, sees either the old or the new content. After a power
 * failure, the old content may return until the directory is synced. Only the owner may access the file, and its
 * directory if it is created here.
 */
export async function writeFileAtomic(file: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    const handle = await withDirectory(dirname(file), () => open(temporary, 'w', PRIVATE_FILE_MODE));
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * Removes temporary files of processes that were killed while they replaced the file. Only for the
 * process that writes the file.
 */
export function removeTemporaryFiles(file: string): void {
  const begin = `${basename(file)}.`;
  for (const name of readdirSync(dirname(file)))
    if (name.startsWith(begin) && /^\d+\.tmp$/.test(name.slice(begin.length)))
      rmSync(join(dirname(file), name), { force: true });
}

/**
 * Calls `write`, which creates a file in the directory. If the directory is missing, it is created
 * with access for the owner alone, and `write` is called once more.
 * @throws errors of the file system
 */
export async function withDirectory<T>(directory: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(directory, { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
    return write();
  }
}

/** Error codes of file systems that cannot sync a directory, which are ignored. */
const UNSUPPORTED = new Set(['EINVAL', 'EPERM', 'ENOTSUP']);

/**
 * Syncs a directory, so that created, renamed and removed files stay so after a power failure.
 * @throws errors of the file system, unless it cannot sync directories at all
 */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } catch (error) {
    requireSupported(error);
  } finally {
    await handle.close();
  }
}

/** The same, synchronously. */
export function syncDirectoryNow(directory: string): void {
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } catch (error) {
    requireSupported(error);
  } finally {
    closeSync(handle);
  }
}

function requireSupported(error: unknown): void {
  if (!UNSUPPORTED.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
}
