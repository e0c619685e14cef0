import { mkdir } from 'node:fs/promises';
import { PRIVATE_DIRECTORY_MODE } from './private-mode.ts';

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
