import { mkdir } from 'node:fs/promises';
import { PRIVATE_DIRECTORY_MODE } from '../../runtime/files/private-mode.ts';

/**
 * The result of `write`, which makes a file in a directory. When the directory is gone, it is made again, readable to us alone, and
 * `write` is tried once more. Nothing is looked at while the directory is there.
 * @throws what the file system throws
 */
export async function inDirectory<T>(directory: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(directory, { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
    return write();
  }
}
